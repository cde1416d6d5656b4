"""A PyTorch loop of your own, with Argosy's measures in it: where its time goes, and how many workers it is worth.

    python examples/own_loop.py

Trains a small model in this process, without a pilot and without `argosy.train.fit`. A `Ledger` splits the time of the
loop into phases, a `NoiseScale` hears how noisy the gradients are, and `predict` says how much sooner more workers
would have learned the same. The lines of the ledger are in own_loop.jsonl.
"""

from __future__ import annotations

import torch
from torch import nn

from argosy.train import Ledger, NoiseScale, predict

NUM_SAMPLES, NUM_FEATURES, NUM_CLASSES = 8192, 32, 4
BATCH, EPOCHS, RATE = 32, 3, 0.05
HEARD = 512
"""Samples in which noise is listened to: in a batch of 32 the gradient itself drowns in it."""


def make_samples() -> tuple[torch.Tensor, torch.Tensor]:
    """Points around one centre for each class, so far apart that most can be told from one another."""
    classes = torch.randint(NUM_CLASSES, (NUM_SAMPLES,))
    centres = torch.randn(NUM_CLASSES, NUM_FEATURES) / 2
    return centres[classes] + torch.randn(NUM_SAMPLES, NUM_FEATURES), classes


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)  # so small a model waits for threads longer than they save
    inputs, labels = make_samples()
    held_out, known = inputs[-1024:], labels[-1024:]
    dataset = torch.utils.data.TensorDataset(inputs[:-1024], labels[:-1024])
    loader = torch.utils.data.DataLoader(dataset, batch_size=BATCH, shuffle=True)
    model = nn.Sequential(nn.Linear(NUM_FEATURES, 64), nn.ReLU(), nn.Linear(64, NUM_CLASSES))
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    criterion = nn.CrossEntropyLoss()
    noise = NoiseScale()
    draw = torch.Generator().manual_seed(1)

    with Ledger("own_loop.jsonl", workers=1, seed=0, batch=BATCH) as ledger:
        for epoch in range(EPOCHS):
            for x, y in ledger.data(loader):
                with ledger.forward():
                    loss = criterion(model(x), y)
                with ledger.backward():
                    loss.backward()
                with ledger.optimizer():
                    optimizer.step()
                    optimizer.zero_grad()
                ledger.step(samples=len(x), loss=loss, lr=RATE, epoch=epoch)
                if ledger.steps % 8 == 0:
                    with ledger.evaluation():  # one pass more, which changes nothing that is learned
                        rows = torch.randint(len(dataset), (HEARD,), generator=draw)
                        noise.measure(model, criterion, *dataset[rows], at=ledger.samples)
            with ledger.evaluation(), torch.no_grad():
                accuracy = (model(held_out).argmax(1) == known).float().mean()
            ledger.evaluated(accuracy=accuracy)

    print(ledger)
    print(noise)
    print(predict(noise, batch=BATCH, workers=[1, 4, 16, 64, 256]))


if __name__ == "__main__":
    main()
