// The page that a panel shows: our own script and style, and nothing from the net.
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

/** The page's HTML. What it shows comes by messages. */
export function pageOf(webview: vscode.Webview, extension: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64');
  const uri = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(extension, 'dist', name)).toString();
  const source = webview.cspSource;
  const policy = `default-src 'none'; style-src ${source}; font-src ${source}; img-src ${source}; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="${vscode.env.language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${uri('transcript.css')}">
</head>
<body>
<div id="loops" role="list" hidden></div>
<div id="bar" hidden>
<span id="status" role="status" aria-live="polite"><span class="title"></span><span class="line"></span></span>
<span class="group"><button id="before">↑</button><button id="after">↓</button><button id="goto">#</button><button id="search">⌕</button><button id="text">≡</button><button id="tab" hidden></button></span>
</div>
<div id="find" role="search" hidden><input type="text" spellcheck="false"><span class="count" aria-live="polite"></span><button>↑</button><button>↓</button><button>✕</button></div>
<div id="main"><div id="view" tabindex="0"><div id="message" hidden></div><div id="feed" role="feed"></div></div><button id="follow" hidden></button></div>
<div id="composer" role="form" hidden>
<div id="mentions" role="listbox" hidden></div>
<textarea rows="1" spellcheck="true" role="combobox" aria-autocomplete="list" aria-expanded="false" aria-controls="mentions"></textarea>
<div id="below"><span id="chips"></span><span class="group"><span id="actions"></span><button id="selection" type="button">@</button><span id="talks"></span></span></div>
</div>
<script nonce="${nonce}" src="${uri('transcript.js')}"></script>
</body>
</html>`;
}
