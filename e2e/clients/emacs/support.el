;;; support.el --- What the tests of both clients share  -*- lexical-binding: t; -*-

;;; Commentary:
;; The tests see what a user sees: the echo area, questions in the minibuffer,
;; buffers and files.  They wait for what shall be there, never for a time.

;;; Code:
(require 'ert)
(require 'seq)
(require 'subr-x)
(require 'package)
(package-initialize)
(require 'markdown-mode)

(defconst ralph-program (getenv "RALPH_LSP") "The program under test.")
(defconst ralph-patience 300 "How many seconds to wait for anything at most.")

(defconst ralph-task "Make all tests pass.\n" "A prompt; its loop is done after two iterations.")
(defconst ralph-patient-task "Make all tests pass when I say go-ahead.\n" "A prompt; its loop is done after `ralph-go-ahead'.")
(defconst ralph-endless-task "Polish the code until I stop you.\n" "A prompt whose loop goes on for ever.")

(defvar ralph-messages nil "What was shown in the echo area, the last one first.")
(defvar ralph-questions nil "What was asked, as (PROMPT . CHOICES), the last one first.")
(defvar ralph-answers nil "Alist of what a question's prompt has in it and the answer's end.")

(defun ralph--note-message (format &rest args)
  "Note what `message' shows for FORMAT and ARGS."
  (when format (push (apply #'format-message format args) ralph-messages)))
(setq comp-enable-subr-trampolines nil         ; Emacs 28: noting messages needs no compiler
      native-comp-enable-subr-trampolines nil) ; since Emacs 29
(advice-add 'message :before #'ralph--note-message)

(defun ralph--note-warning (type text &optional level &rest _)
  "Note the warning TEXT of TYPE, which may not come as a message, by its LEVEL."
  (unless (eq level :debug)
    (ralph--note-message "Warning %s: %s" type text)))
(advice-add 'display-warning :before #'ralph--note-warning)

(defun ralph--answer (prompt choices &rest _)
  "Note a question with PROMPT and CHOICES, and give its answer."
  (let ((titles (all-completions "" choices)))
    (push (cons prompt titles) ralph-questions)
    (or (when-let ((answer (cdr (seq-find (lambda (answer) (string-search (car answer) prompt)) ralph-answers))))
          (or (seq-find (lambda (title) (string-suffix-p answer title)) titles) answer))
        (error "A question nobody expected: %s %S" prompt titles))))
(setq completing-read-function #'ralph--answer)

(defvar ralph-read-on #'ignore "A function that makes the client read what it left unread.")

(defun ralph-await (what holds)
  "Wait until the function HOLDS returns non-nil, and return that.
WHAT tells the reader of a failure what didn't come within `ralph-patience'."
  (let ((deadline (+ (float-time) ralph-patience)) value)
    (while (not (or (setq value (funcall holds))
                    (> (float-time) deadline)))
      (accept-process-output nil 0.02)
      (funcall ralph-read-on))
    (or value (ert-fail (list (concat "Never seen: " what) :messages ralph-messages :questions ralph-questions)))))

(defun ralph-await-message (regexp)
  "Wait for a message that matches REGEXP."
  (ralph-await (concat "message " regexp)
               (lambda () (seq-find (lambda (said) (string-match-p regexp said)) ralph-messages))))

(defun ralph-await-question (regexp &rest choices)
  "Wait for a question that matches REGEXP and has these CHOICES."
  (let ((asked (ralph-await (concat "question " regexp)
                            (lambda () (seq-find (lambda (asked) (string-match-p regexp (car asked)))
                                                 ralph-questions)))))
    (should (equal (sort (copy-sequence (cdr asked)) #'string<) (sort choices #'string<)))))

(defun ralph--alive-p (pid)
  "Whether there is a process PID."
  (zerop (signal-process pid 0)))

(defun ralph-await-agent ()
  "Wait until the agent of an endless task works; return its process id."
  (let ((file (expand-file-name "agent.pid" (ralph-folder))))
    (ralph-await "the agent" (lambda () (file-exists-p file)))
    (prog1 (with-temp-buffer (insert-file-contents file) (string-to-number (buffer-string)))
      (delete-file file))))

(defun ralph-find-state-file ()
  "Open the state file of a task that runs; nothing writes it meanwhile."
  (ralph-await "the state file" (lambda () (file-exists-p (ralph-state-file))))
  (find-file (ralph-state-file)))

(defun ralph-should-be-gone (pid)
  "Process PID must have ended already."
  (should-not (ralph--alive-p pid)))

(defun ralph-folder (&optional file)
  "The root of the project that has FILE, by default the current directory."
  (locate-dominating-file (or file default-directory) "PROMPT.md"))

(defun ralph-go-ahead ()
  "Let the loop of a patient task be done."
  (write-region "" nil (expand-file-name "go-ahead" (ralph-folder)) nil 'quiet))

(defun ralph-state-file ()
  "The file that says where the loop of the project stands."
  (expand-file-name ".pi/ralph-loop.local.md" (ralph-folder)))

(defun ralph--project (dir)
  "The project around DIR, for project.el."
  (when-let ((root (ralph-folder dir))) (cons 'transient (expand-file-name root))))
(setq project-find-functions (list #'ralph--project))

(defun ralph-uri (file)
  "The URI of FILE."
  (concat "file://" (expand-file-name file)))

(defmacro with-project (prompt &rest body)
  "Evaluate BODY in the PROMPT.md of a new project, connected.
PROMPT is what the file says."
  (declare (indent 1))
  `(ralph-call-in-project ,prompt (lambda () ,@body)))

;; How each client does it; to disconnect twice is no error.
(declare-function client-connect nil)
(declare-function client-disconnect nil)

(defun ralph-call-in-project (prompt body)
  "Call BODY in a new project's PROMPT.md, which has the text PROMPT."
  (setq ralph-messages nil ralph-questions nil ralph-answers nil)
  (let* ((root (make-temp-file "project-" t))
         (default-directory (file-name-as-directory root)))
    (write-region prompt nil "PROMPT.md" nil 'quiet)
    (unwind-protect
        (progn
          (find-file "PROMPT.md")
          (client-connect)
          (unwind-protect (funcall body) (client-disconnect)))
      (dolist (buffer (buffer-list))
        (when-let ((file (buffer-file-name buffer)))
          (with-current-buffer buffer (set-buffer-modified-p nil))
          (kill-buffer buffer)))
      (delete-directory root t))))

(defun ralph-go-behind (text)
  "Go behind the first TEXT in the buffer."
  (goto-char (point-min))
  (search-forward text))

(setq make-backup-files nil
      create-lockfiles nil
      auto-save-default nil
      last-nonmenu-event t) ; commands come from the keyboard: no pop-up menus

(provide 'support)
;;; support.el ends here
