"""Where it hurts that workers read their own samples only, and how much exchange cures it: `argosy bench shuffle`.

plan            which runs there are
shards          how samples lie on workers at first
reading         who reads which of them, epoch by epoch
network         a small network for many workers at once; `replay` launches its steps on a GPU
learning        one run
results         the runs that are done
equivalence     whether two ways to train are as good as each other, by seeds
findings        accuracy by share, against global shuffling; `table` and `plots` show it
conduct         all of it, in one call
"""
