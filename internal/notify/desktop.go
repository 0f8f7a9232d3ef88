package notify

import (
	"runtime"

	"github.com/ralph-lsp/ralph-lsp/internal/outside"
)

// toast shows the note of standard input on Windows, in the name of PowerShell, as only
// programs that are installed may do so in their own.
const toast = `[Console]::InputEncoding = [Text.Encoding]::UTF8
$note = [Console]::In.ReadToEnd() | ConvertFrom-Json
$null = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$xml = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)
$lines = $xml.GetElementsByTagName('text')
$null = $lines.Item(0).AppendChild($xml.CreateTextNode($note.title))
$null = $lines.Item(1).AppendChild($xml.CreateTextNode($note.text))
$app = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\WindowsPowerShell\v1.0\powershell.exe'
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($app).Show([Windows.UI.Notifications.ToastNotification]::new($xml))`

// desktop is the program that shows a note on this machine's desktop, or why there is none.
func desktop(env func(string) string) (argv []string, why string) {
	switch runtime.GOOS {
	case "windows":
		argv = []string{"powershell", "-NoProfile", "-NonInteractive", "-Command", toast}
	case "darwin":
		argv = []string{"osascript", "-e", "on run argv", "-e",
			"display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", "{title}", "{text}"}
	default:
		argv = []string{"notify-send", "--app-name=ralph-lsp", "--", "{title}", "{text}"}
		if env("DBUS_SESSION_BUS_ADDRESS") == "" {
			return argv, "there is no desktop here (DBUS_SESSION_BUS_ADDRESS isn't set)"
		}
	}
	if _, err := outside.LookPath(argv[0]); err != nil {
		return argv, argv[0] + " isn't installed"
	}
	return argv, ""
}
