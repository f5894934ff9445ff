"""A neural spline flow (Durkan et al. 2019), zuko's, that stops when held-out training rows no longer gain."""

import copy

import numpy as np
import torch
import zuko

BATCH = 128
PATIENCE = 30  # epochs without a gain
EPOCHS = 1000


class SplineFlow:
    """Adam until a fifth of the training rows has not gained for some epochs; the best epoch is kept."""

    def __init__(self, transforms, width):
        self.transforms, self.width = transforms, width

    def fit(self, rows):
        torch.manual_seed(0)
        torch.set_num_threads(1)
        rows = torch.as_tensor(rows, dtype=torch.float32)
        rows = rows[torch.randperm(len(rows))]
        watched, train = rows[: len(rows) // 5], rows[len(rows) // 5 :]
        self.flow = zuko.flows.NSF(rows.shape[1], transforms=self.transforms, hidden_features=(self.width, self.width))
        optimiser = torch.optim.Adam(self.flow.parameters(), lr=1e-3)
        self.watched, since = -np.inf, 0
        for _ in range(EPOCHS):
            for batch in train[torch.randperm(len(train))].split(BATCH):
                optimiser.zero_grad()
                loss = -self.flow().log_prob(batch).mean()
                loss.backward()
                optimiser.step()
            with torch.no_grad():
                value = self.flow().log_prob(watched).mean().item()
            since += 1
            if value > self.watched:
                self.watched, since, best = value, 0, copy.deepcopy(self.flow.state_dict())
            if since == PATIENCE:
                break
        self.flow.load_state_dict(best)
        return self

    def score_samples(self, rows):
        with torch.no_grad():
            return self.flow().log_prob(torch.as_tensor(rows, dtype=torch.float32)).double().numpy()
