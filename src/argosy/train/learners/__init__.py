"""Who learns, one class for each scheme.

learner     what the loop asks of all of them
replica     a whole model on each rank, one mean gradient (DDP)
sharded     a model divided over the ranks (FSDP2)
averaging   ranks or nodes that step by themselves and average every so often; outer, DiLoCo's outer step
stacked     many workers of that kind on one device
norm        BatchNorm on several workers
pieces      which samples go through the model together (pure)
build       from a scheme to its learner
"""
