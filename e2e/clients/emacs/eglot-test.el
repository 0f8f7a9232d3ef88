;;; eglot-test.el --- ralph-lsp in eglot  -*- lexical-binding: t; -*-

;;; Commentary:
;; What is special to ralph-lsp is in docs/EDITORS.md, and was loaded before.

;;; Code:
(require 'support)
(require 'eglot)

;; What is no part of the protocol, or lacks what the protocol demands, is an error.
(setq eglot-strict-mode '(disallow-non-standard-keys enforce-required-keys check-types disallow-unknown-methods))

(defun read-on ()
  "Read what came together with an answer that was waited for.
The jsonrpc.el of Emacs 28 leaves it until the server says something more."
  (when-let ((server (eglot-current-server)))
    (jsonrpc--process-filter (jsonrpc--process server) "")))
(setq ralph-read-on #'read-on)

(defun client-connect ()
  "Connect as \\[eglot] does."
  (let ((eglot-sync-connect t))
    (apply #'eglot (eglot--guess-contact)))
  (should (eglot-managed-p)))

(defun client-disconnect ()
  "Say goodbye, and look at what was said in strict mode before."
  (when-let ((server (eglot-current-server)))
    (eglot-shutdown server nil nil t)
    (should-not (process-live-p (jsonrpc--process server))))
  (dolist (said (seq-remove (lambda (said) (string-search ":events-buffer-scrollback-size" said)) ralph-messages)) ; Emacs 30 of itself
    (should-not (string-match-p "Warning\\|unknown\\|internal error\\|[Ee]rror in" said))))

(defun run-command (command argument)
  "Let the server execute COMMAND with ARGUMENT; return the result."
  (eglot-execute-command (eglot-current-server) command (vector argument)))

(defun start (&rest more)
  "Start a loop with PROMPT.md and what MORE says."
  (run-command "ralph.loop.start" `(:promptUri ,(ralph-uri "PROMPT.md") ,@more)))

(ert-deftest eglot-runs-a-loop-by-a-code-action ()
  (with-project ralph-task
    (setq ralph-answers '(("Pick an action" . "Run Ralph loop with the selection")))
    (eglot-code-actions (point-min) (point-max) nil t)
    (ralph-await-message "(type=3): Ralph done: LOOP_COMPLETE after 2 iterations · \\$0\\.02 · [0-9.hms]+ · nothing verified this$")
    (should-not (file-exists-p (ralph-state-file)))))

(defun act (title)
  "Do the code action whose title ends with TITLE."
  (setq ralph-answers `(("Pick an action" . ,title)))
  (eglot-code-actions (point-min) nil nil t))

(ert-deftest eglot-does-all-by-code-actions ()
  (with-project ralph-endless-task
    (act "Ralph: Dry run")
    (ralph-await-message "(type=3): Ralph: would run pi .*at most 50 iterations")
    (act "Run Ralph loop")
    (let ((agent (ralph-await-agent)))
      (act "Ralph: Pause")
      (ralph-await-message "(type=3): Ralph: the loop pauses after this iteration$")
      (act "Ralph: Resume")
      (ralph-await-message "(type=3): Ralph: 50 iterations · 4h of running")
      (act " · Cancel")
      (ralph-should-be-gone agent))
    (ralph-await-message "(type=3): Ralph cancelled after 1 iteration")))

(ert-deftest eglot-runs-a-loop-by-a-command ()
  (with-project ralph-task
    (should (equal (plist-get (start :completionPromise "DONE") :stateFileUri) (ralph-uri (ralph-state-file))))
    (ralph-await-message "(type=3): Ralph done: DONE after 2 iterations")))

(ert-deftest eglot-is-asked-when-a-limit-is-reached ()
  (with-project ralph-task
    (setq ralph-answers '(("iteration limit reached" . "Raise to 2 iterations and Go On")))
    (start :completionPromise "DONE" :maxIterations 1)
    (ralph-await-question "Ralph stopped after 1 iteration: iteration limit reached" "Raise to 2 iterations and Go On" "Later" "Discard")
    (ralph-await-message "(type=3): Ralph done: DONE after 2 iterations")))

(ert-deftest eglot-is-asked-when-a-loop-is-active ()
  (with-project ralph-endless-task
    (start)
    (let ((first (ralph-await-agent)))
      (setq ralph-answers '(("Ralph loop active" . "Keep")))
      (let ((refusal (should-error (start) :type 'jsonrpc-error)))
        (should (equal -32803 (alist-get 'jsonrpc-error-code (cddr refusal)))))
      (ralph-await-question "Ralph loop active" "Cancel and start" "Keep")
      (setq ralph-answers '(("Ralph loop active" . "Cancel and start")))
      (start)
      (ralph-should-be-gone first))
    (ralph-await-message "(type=3): Ralph cancelled after 1 iteration")
    (ralph-await-agent)))

(ert-deftest eglot-cancels-a-loop ()
  (with-project ralph-endless-task
    (let* ((loop (plist-get (start) :loopId))
           (agent (ralph-await-agent))
           (result (run-command "ralph.loop.cancel" `(:loopId ,loop))))
      (ralph-should-be-gone agent)
      (should (equal (plist-get result :loopId) loop)))
    (ralph-await-message "(type=3): Ralph cancelled after 1 iteration")
    (should-not (file-exists-p (ralph-state-file)))))

(ert-deftest eglot-helps-to-edit-the-state-file ()
  (with-project ralph-endless-task
    (start)
    (ralph-await-agent)
    (ralph-find-state-file)
    (should (eglot-managed-p))
    (ralph-go-behind "max_iter")
    (let (hover)
      (eglot-hover-eldoc-function (lambda (text &rest _) (setq hover text)))
      (should (string-match-p "max_iterations" (ralph-await "hover" (lambda () hover)))))
    (ralph-go-behind "max_iterations: 50\n")
    (insert "max_cos\n")
    (backward-char)
    (completion-at-point)
    (should (string-match-p "^max_cost_usd: $" (buffer-string)))
    (ralph-go-behind "max_iterations: ")
    (insert "many")
    (eglot--signal-textDocument/didChange)
    (ralph-await "diagnostic"
                 (lambda ()
                   (flymake-start)
                   (seq-find (lambda (problem)
                               (string-match-p "max_iterations" (flymake-diagnostic-text problem)))
                             (flymake-diagnostics))))))

(ert-deftest eglot-takes-everything-with-it-and-is-asked-afterwards ()
  (with-project ralph-endless-task
    (start)
    (let ((agent (ralph-await-agent)))
      (client-disconnect)
      (ralph-should-be-gone agent))
    (should (file-exists-p (ralph-state-file)))
    (setq ralph-answers '(("Go on with it" . "Resume")))
    (client-connect)
    (ralph-await-question "was interrupted in .* at iteration 1/50" "Resume" "Discard" "Later")
    (ralph-await-agent)))

(provide 'eglot-test)
;;; eglot-test.el ends here
