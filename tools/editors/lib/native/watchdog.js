// In place of VS Code's native-watchdog, which is C++: ends an extension host whose server is gone.
exports.start = (pid) => {
  setInterval(() => {
    try {
      process.kill(pid, 0)
    } catch {
      setTimeout(() => process.exit(87), 5000)
    }
  }, 1000).unref()
}
exports.exit = (code) => process.exit(code ?? 0)
