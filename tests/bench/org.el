;; Reads the files of bench_org in Emacs and prints how long it took: all headlines by org-element; tasks whose SCHEDULED has
;; arrived, by the headlines of org-element. The counts must be those of bench_org.
;; usage: emacs -Q --batch -l org.el DIRECTORY
(require 'org)
(require 'org-element)
(setq org-inhibit-startup t gc-cons-threshold 1000000000
      org-todo-keywords '((sequence "TODO" "NEXT" "DOING" "WAITING" "|" "DONE" "CANCELLED")))

(defun due-p (headline)
  (let ((s (org-element-property :scheduled headline)))
    (and s (eq (org-element-property :todo-type headline) 'todo)
         (<= (float-time (org-timestamp-to-time s)) 1794990000))))

(defun cpu-time ()
  "Seconds of processor time: the machine may have other work."
  (float-time (get-internal-run-time)))

(defun measure (name file fn)
  (with-temp-buffer
    (insert-file-contents file)
    (org-mode)
    (let (best count)
      (dotimes (_ 3)
        (let ((start (cpu-time)))
          (setq count (funcall fn))
          (let ((took (- (cpu-time) start)))
            (when (or (null best) (< took best)) (setq best took)))))
      (princ (format "%s_us %.0f\n%s_count %d\n" name (* 1e6 best) name count)))))

(let ((directory (car command-line-args-left)))
  (setq command-line-args-left nil)
  (measure "plan" (expand-file-name "plan.org" directory)
           (lambda () (length (org-element-map (org-element-parse-buffer 'headline) 'headline #'identity))))
  (measure "agenda" (expand-file-name "agenda.org" directory)
           (lambda () (length (org-element-map (org-element-parse-buffer 'headline) 'headline
                                (lambda (h) (and (due-p h) h)))))))
