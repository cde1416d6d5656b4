"""What `argosy scale` studies: `task_named("atoms")` and others."""

from argosy.train.tasks.named import TASKS, task_named
from argosy.train.tasks.task import Samples, Task, TaskData

__all__ = ["TASKS", "Samples", "Task", "TaskData", "task_named"]
