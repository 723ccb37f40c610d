;; Prints the headlines of org files as Emacs's org-element reads them: one JSON line for each file named on standard
;; input. usage: emacs -Q --batch -l rows.el < FILE_NAMES
(require 'org)
(require 'org-element)
(require 'json)
(setq gc-cons-threshold 200000000
      org-inhibit-startup t
      org-todo-keywords '((sequence "TODO" "NEXT" "DOING" "WAITING" "|" "DONE" "CANCELLED")))

(defun text (s)
  "S for JSON: bytes that are not valid UTF-8 become U+FFFD, as in rota's JSON."
  (if (null s) :null
    (replace-regexp-in-string "[^\0-\U0010FFFF]" "\uFFFD" (substring-no-properties s) t t)))

(defun number (n) (if n n :null))

(defun stamp (s)
  "The parts of the timestamp S."
  (if (null s) :null
    (let ((get (lambda (p) (org-element-property p s))))
      (list :active (if (memq (funcall get :type) '(active active-range diary)) t :false)
            :date (if (funcall get :year-start)
                      (format "%04d-%02d-%02d" (funcall get :year-start) (funcall get :month-start)
                              (funcall get :day-start))
                    :null)
            :hour (number (funcall get :hour-start))
            :minute (number (funcall get :minute-start))
            :repeat (if (funcall get :repeater-type)
                        (format "%s%d%s"
                                (pcase (funcall get :repeater-type) ('cumulate "+") ('catch-up "++") ('restart ".+"))
                                (funcall get :repeater-value)
                                (pcase (funcall get :repeater-unit)
                                  ('hour "h") ('day "d") ('week "w") ('month "m") ('year "y")))
                      :null)))))

(defun properties (begin)
  "The lines of the property drawer of the headline at BEGIN, as pairs."
  (goto-char begin)
  (let* ((case-fold-search t) (all (org-element--get-node-properties)) pairs)
    (while all
      (push (vector (text (substring (symbol-name (car all)) 1)) (text (cadr all))) pairs)
      (setq all (cddr all)))
    (vconcat pairs)))

(defun row (h)
  (let ((get (lambda (p) (org-element-property p h))))
    (list :level (funcall get :level)
          :title (text (funcall get :raw-value))
          :state (text (funcall get :todo-keyword))
          :done (if (eq (funcall get :todo-type) 'done) t :false)
          :priority (if (funcall get :priority) (text (string (funcall get :priority))) :null)
          :tags (vconcat (mapcar #'text (funcall get :tags)))
          :props (properties (funcall get :begin))
          :scheduled (stamp (funcall get :scheduled))
          :deadline (stamp (funcall get :deadline))
          :line (line-number-at-pos (funcall get :begin)))))

(defun rows (file)
  (with-temp-buffer
    (let ((coding-system-for-read 'utf-8))
      (insert-file-contents file))
    (setq default-directory (file-name-directory file))
    (condition-case problem
        (progn
          (org-mode)
          (vconcat (org-element-map (org-element-parse-buffer 'headline) 'headline #'row)))
      (error (list :error (format "%S" problem))))))

(let (file)
  (while (setq file (ignore-errors (read-from-minibuffer "")))
    (princ (decode-coding-string (json-serialize (rows file)) 'utf-8))
    (terpri)))
