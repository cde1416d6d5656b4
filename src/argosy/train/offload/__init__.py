"""A model that needs more fast memory than there is: what lies in slow memory between its uses, by a measured plan.

asked, offloaded             what was asked for, and what came of it
layers                       which module needs which parameters, seen in one real forward pass
slow, disk, pinned           slow memory: files beside a CPU, page-locked host memory beside a GPU
layout                       a tensor apart from its bytes
parameters, activations, states   the three kinds of objects, and when each comes and goes
meter                        seconds of each move and window, and bytes of fast memory
choosing                     from measured costs and a budget to a placement: pure
mover, opening, offloading   all of that, as the training loop calls it
"""
