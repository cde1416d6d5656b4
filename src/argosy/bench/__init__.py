"""Argosy's frames beside other engines: the same tables, the same question, each side in a process of its own.

cases, data     what is asked, and of which tables
engines/        one small adapter for each engine
side            the process of one engine, seen from outside; `__main__` is the inside
compare         the sides in turn, their answers checked, medians
digest          what two equal answers have in common
cylon           the published benchmark of Radical-Cylon
locality/       a study of its own: what it costs in accuracy that workers read their own samples
"""
