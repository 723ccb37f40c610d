;;; -*- lexical-binding: t -*-
;; Reads the files of bench_org in Emacs and prints how long it took: all headlines by org-element; the lists of the agenda from
;; these headlines. It must print the counts and sums of bench_org: both do the same work.
;; usage: TZ=UTC emacs -Q --batch -l org.el DIRECTORY
(require 'org)
(require 'org-element)
(require 'cl-lib)
(setq org-inhibit-startup t gc-cons-threshold 1000000000
      org-todo-keywords '((sequence "TODO" "NEXT" "DOING" "WAITING" "|" "DONE" "CANCELLED")))

(defconst now 1794990000)
(defconst day 86400)
(defconst lists '("overdue" "due" "ready" "claimed" "stale" "upcoming"))

(defun headlines ()
  (org-element-map (org-element-parse-buffer 'headline) 'headline #'identity))

(defun seconds (stamp) (float-time (org-timestamp-to-time stamp)))

(defun next-time (stamp at)
  "The first time of STAMP, which begins at AT, that is in the future; nil: none."
  (let ((count (org-element-property :repeater-value stamp)))
    (cond ((> at now) at)
          ((null count) nil)
          (t (let ((step (* count (pcase (org-element-property :repeater-unit stamp) ('hour 3600) ('day day) ('week (* 7 day))))))
               (+ at (* step (1+ (floor (- now at) step)))))))))

(defun done-table (all)
  "Ids and titles of tasks: whether all tasks of this name are done."
  (let ((table (make-hash-table :test 'equal)))
    (dolist (h all table)
      (when (org-element-property :todo-type h)
        (let ((done (eq (org-element-property :todo-type h) 'done)))
          (dolist (name (list (org-element-property :ID h) (org-element-property :raw-value h)))
            (when name
              (puthash name (if (or done (eq (gethash name table) 'open)) (gethash name table 'done) 'open) table))))))))

(defun depends-done-p (h table)
  (let ((names (org-element-property :DEPENDS h)))
    (or (null names)
        (cl-every (lambda (name) (eq (gethash name table) 'done)) (split-string names "," t "[ \t]+")))))

(defun agenda ()
  "The lists of the agenda: for each, headlines in order."
  (let* ((all (headlines)) (table (done-table all)) (family (make-hash-table :test 'eq))
         overdue due ready claimed stale upcoming)
    (dolist (h all)
      (let* ((up (gethash (org-element-property :parent h) family))
             (open (eq (org-element-property :todo-type h) 'todo))
             (hidden (or (org-element-property :commentedp h) (org-element-property :archivedp h) (and up (aref up 0))))
             (blocked (and up (or (aref up 1) (and (aref up 2) (aref up 3))))))
        ;; hidden, blocked, ordered, a child that is open
        (puthash h (vector hidden blocked (org-element-property :ORDERED h) nil) family)
        (when (and open (not hidden))
          (when up (aset up 3 t))
          (let* ((state (org-element-property :todo-keyword h))
                 (agent (and (equal state "DOING") (org-element-property :AGENT h)))
                 (deadline (org-element-property :deadline h))
                 (scheduled (org-element-property :scheduled h))
                 (deadline-at (and deadline (seconds deadline)))
                 (scheduled-at (and scheduled (seconds scheduled)))
                 (times (delq nil (list (and deadline (next-time deadline deadline-at))
                                        (and scheduled (next-time scheduled scheduled-at)))))
                 (future (and scheduled-at (> scheduled-at now))))
            (when (and deadline-at (<= (if (org-element-property :hour-start deadline) deadline-at (+ deadline-at day)) now))
              (push h overdue))
            (when (and scheduled-at (not future)) (push h due))
            (when times (push (cons (apply #'min times) h) upcoming))
            (when agent
              (push h claimed)
              (let ((since (org-element-property :CLAIMED h)))
                (when (and since (> (- now (float-time (org-time-string-to-time since))) day)) (push h stale))))
            (unless (or agent future blocked (equal state "WAITING") (not (depends-done-p h table)))
              (push h ready))))))
    (setq upcoming (mapcar #'cdr (sort (nreverse upcoming) (lambda (a b) (< (car a) (car b))))))
    (list (nreverse overdue) (nreverse due) (nreverse ready) (nreverse claimed) (nreverse stale) upcoming)))

(defun cpu-time ()
  "Seconds of processor time: the machine may have other work."
  (float-time (get-internal-run-time)))

(defun sum (all)
  "A sum of the places of headlines that depends on their order."
  (let ((rank 0) (sum 0))
    (dolist (h all sum)
      (setq sum (mod (+ sum (* (setq rank (1+ rank)) (1- (org-element-property :begin h)))) 1000000007)))))

(defun measure (name file fn)
  "Prints the best time of FN, and for each of its lists the number of headlines and the sum of their places."
  (with-temp-buffer
    (insert-file-contents file)
    (org-mode)
    (let (best result)
      (dotimes (_ 3)
        (let ((start (cpu-time)))
          (setq result (funcall fn))
          (let ((took (- (cpu-time) start)))
            (when (or (null best) (< took best)) (setq best took)))))
      (princ (format "%s_us %.0f\n" name (* 1e6 best)))
      (dolist (one result)
        (princ (format "%s_%s_count %d\n%s_%s_sum %d\n" name (car one) (length (cdr one)) name (car one) (sum (cdr one))))))))

(mapc #'byte-compile '(headlines seconds next-time done-table depends-done-p agenda))

(let ((directory (car command-line-args-left)))
  (setq command-line-args-left nil)
  (measure "plan" (expand-file-name "plan.org" directory) (lambda () (list (cons "headlines" (headlines)))))
  (measure "agenda" (expand-file-name "agenda.org" directory) (lambda () (cl-mapcar #'cons lists (agenda)))))
