# %% all_trainings

from cardlab.learning import all_trainings

for name, module in all_trainings().items():
    if name.startswith("crazy_eights/"):
        print(name, "is in", module)

#: crazy_eights/tabular_q is in cardlab.games.crazy_eights.learning.tabular_q
#: crazy_eights/transformer is in cardlab.games.crazy_eights.learning.transformer


# %% find_training

from dataclasses import fields

from cardlab.learning import find_training

training = find_training("crazy_eights/tabular_q")
print({field.name: field.default for field in fields(training.Config)})
# training.train(training.Config(), folder, report) trains; `cardlab train` does the same

#: {'games': 600000, 'alpha': 0.2, 'epsilon': 0.4, 'learn_from_losses': False, 'seed': 0}
