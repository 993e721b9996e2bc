# %% stream_results, default_workers

from math import factorial

from cardlab.arena.workers import default_workers, stream_results

tasks = [5, 10, 15]
answers = stream_results(factorial, tasks, workers=default_workers(), expected_seconds=0.1)
print(sorted(answers))  # they arrive in any order; such short work starts no process

#: [120, 3628800, 1307674368000]


# %% Pool, become_quiet

from math import factorial

from cardlab.arena.workers import Pool, become_quiet

with Pool(1, initializer=become_quiet) as pool:  # what it does by default
    print(pool.submit(factorial, 10).result())

#: 3628800


# %% joined_cluster (needs ray)

from cardlab.arena.workers import joined_cluster
from cardlab.engine.errors import CardlabError

with joined_cluster(None):  # None: no cluster is wanted
    print("working here")

try:
    with joined_cluster("localhost:1"):
        print("working on the cluster")
except CardlabError as error:
    print(str(error)[:46])

#: working here
#: --ray localhost:1: no cluster answers ([Errno
