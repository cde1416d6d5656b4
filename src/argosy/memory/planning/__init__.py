"""Which objects should be fast: plans for a whole run, schedules with migration, and policies that see only the past.

capacity                        how much fast memory there is, and what must be in it
greedy, exact, exhaustive       one placement for the whole run
phases                          a schedule: placements that change while the run goes on, at a price
timeline, dynamic               its parts: stretches of time, the best schedule of few objects
relaxation, polish              a good one of many, made better object by object
belady                          the clairvoyant reference
policy, online, simulate        deciding without knowing the future, and what that would have cost
highs, quiet                    the solver of mixed-integer programs
solved, plan, solve, curves     the answer, who gives it, and time against capacity
"""
