;;; lsp-mode-test.el --- ralph-lsp in lsp-mode  -*- lexical-binding: t; -*-

;;; Commentary:
;; What is special to ralph-lsp is in docs/EDITORS.md, and was loaded before.  lsp-mode has what
;; eglot doesn't have everywhere: code lenses, and progress in the mode line.

;;; Code:
(require 'support)
(require 'lsp-mode)
(require 'lsp-lens)

(setq lsp-enabled-clients '(ralph)
      lsp-auto-guess-root t
      lsp-restart 'ignore
      lsp-lens-enable t
      lsp-enable-snippet nil
      lsp-debounce-full-sync-notifications nil
      lsp-completion-provider :none ; completion-at-point is enough
      lsp-diagnostics-provider :flymake
      lsp-session-file (expand-file-name "lsp-session" temporary-file-directory))

(with-eval-after-load 'flymake-proc ; it warns of every Markdown file
  (remove-hook 'flymake-diagnostic-functions #'flymake-proc-legacy-flymake))

(defun client-connect ()
  "Connect as \\[lsp] does."
  (lsp)
  (ralph-await "connection"
               (lambda ()
                 (seq-find (lambda (workspace) (eq 'initialized (lsp--workspace-status workspace)))
                           (lsp-workspaces)))))

(defun client-disconnect ()
  "Say goodbye, and look at what was said before."
  (dolist (workspace (lsp-workspaces))
    (lsp-workspace-shutdown workspace)
    (ralph-await-message (format "Workspace %s shutdown" (lsp--workspace-print workspace))))
  (dolist (said ralph-messages)
    (should-not (string-match-p "warning\\|unknown\\|timeout\\|failed to parse\\|executeCommand" said))))

(defun lenses ()
  "The code lenses that the buffer shows."
  (seq-mapcat (lambda (overlay) (overlay-get overlay 'lsp--metadata)) lsp-lens--overlays))

(defun await-lens (regexp)
  "Wait for a lens that matches REGEXP."
  (ralph-await (concat "lens " regexp)
               (lambda () (seq-find (lambda (title) (string-match-p regexp title)) (lenses)))))

(defun click (lens)
  "Do what a click on LENS does."
  (funcall (get-text-property 0 'action lens)))

(defun complete ()
  "Complete what is before point by the first candidate, as company-mode does."
  (pcase-let* ((`(,start ,end ,table . ,more) (lsp-completion-at-point))
               (candidate (car (all-completions (buffer-substring start end) table))))
    (delete-region start end)
    (insert candidate)
    (funcall (plist-get more :exit-function) candidate 'finished)))

(defun await-progress (regexp)
  "Wait for the mode line to show a progress that matches REGEXP."
  (ralph-await (concat "progress " regexp)
               (lambda () (when-let ((status (lsp--progress-status))) (string-match-p regexp status)))))

(ert-deftest lsp-mode-runs-a-loop-by-a-lens ()
  (with-project ralph-patient-task
    (await-lens "^Dry run$")
    ;; lsp-mode loses what comes in the same piece as the answer that it waits
    ;; for, and this agent is faster than any real one.
    (click (await-lens "^Run Ralph loop$"))
    (ralph-go-ahead)
    (ralph-await-message "Ralph done: LOOP_COMPLETE after 2 iterations · \\$0\\.02")
    (await-lens "^Run Ralph loop$")
    (should-not (lsp--progress-status))))

(ert-deftest lsp-mode-shows-and-cancels-a-loop ()
  (with-project ralph-endless-task
    (click (await-lens "^Run Ralph loop$"))
    (let ((agent (ralph-await-agent)))
      (await-progress "0%% 1/50 · \\$0\\.01 · bash make forever")
      (click (await-lens "^1/50 .*· Cancel$"))
      (ralph-should-be-gone agent))
    (ralph-await-message "Ralph cancelled after 1 iteration")
    (ralph-await "the progress's end" (lambda () (not (lsp--progress-status))))))

(ert-deftest lsp-mode-is-asked-when-a-loop-is-active ()
  (with-project ralph-endless-task
    (let ((run (await-lens "^Run Ralph loop$")))
      (click run)
      (let ((first (ralph-await-agent)))
        (setq ralph-answers '(("Ralph loop active" . "Cancel and start")))
        (click run) ; as fast as nobody is
        (ralph-await-question "Ralph loop active" "Cancel and start" "Keep")
        (ralph-should-be-gone first)))
    (ralph-await-agent)))

(ert-deftest lsp-mode-helps-to-edit-the-state-file ()
  (with-project ralph-endless-task
    (click (await-lens "^Run Ralph loop$"))
    (ralph-await-agent)
    (ralph-find-state-file)
    (client-connect)
    (await-lens "· Cancel$")
    (ralph-go-behind "max_iter")
    (lsp-describe-thing-at-point)
    (should (string-match-p "max_iterations" (with-current-buffer "*lsp-help*" (buffer-string))))
    (ralph-go-behind "max_iterations: 50\n")
    (insert "max_cos\n")
    (backward-char)
    (complete)
    (should (string-match-p "^max_cost_usd: $" (buffer-string)))
    (ralph-go-behind "max_iterations: ")
    (insert "many")
    (ralph-await "diagnostic"
                 (lambda ()
                   (seq-find (lambda (problem) (string-match-p "max_iterations" (lsp:diagnostic-message problem)))
                             (lsp--get-buffer-diagnostics))))))

(ert-deftest lsp-mode-takes-everything-with-it-and-is-asked-afterwards ()
  (with-project ralph-endless-task
    (click (await-lens "^Run Ralph loop$"))
    (let ((agent (ralph-await-agent)))
      (client-disconnect)
      (ralph-should-be-gone agent))
    (setq ralph-answers '(("Go on with it" . "Discard")))
    (client-connect)
    (ralph-await-question "was interrupted in .* at iteration 1/50" "Resume" "Discard" "Later")
    (ralph-await "the state file's end" (lambda () (not (file-exists-p (ralph-state-file)))))))

(provide 'lsp-mode-test)
;;; lsp-mode-test.el ends here
