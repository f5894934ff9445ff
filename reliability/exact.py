"""ln p in 50 digits, from the paper's formulas and docs/model-file.md; nothing of upoe is used.

Everything a file derives from its parameters (ln|A|, W#, ½ ln|WWᵀ|, an expert's constant) is
derived independently."""

import functools

from mpmath import mp, mpf
from mpmath.calculus.quadrature import GaussLegendre

mp.dps = 50
KNOTS = [mpf(2 * i) / 5 - 4 for i in range(21)]
STEP = mpf(2) / 5


def student_t(expert, z):
    """(24) with ν = 2β − 1 and θ² = 2/(ν s²): ln T."""
    mu, s, nu = (mpf(expert[key]) for key in ("location", "scale", "degrees_of_freedom"))
    nu = min(nu, mpf(10) ** 15)
    u = (z - mu) / s
    norm = mp.loggamma((nu + 1) / 2) - mp.loggamma(nu / 2) - mp.log(mp.pi * nu) / 2 - mp.log(s)
    return norm - (nu + 1) / 2 * mp.log1p(u * u / nu)


def mixture(expert, z):
    """(31): ln Σ πₐ Tₐ."""
    parts = zip(expert["weights"], expert["components"])
    return mp.log(mp.fsum(mpf(w) * mp.exp(student_t(c, z)) for w, c in parts))


def natural_spline(values):
    """Of each interval between knots the coefficients in v = (z − knot)/step, and the end slopes."""
    n = len(values) - 2
    diagonal, right = [mpf(4)] * n, [
        6 * (values[i] - 2 * values[i + 1] + values[i + 2]) for i in range(n)
    ]
    for i in range(1, n):
        right[i] -= right[i - 1] / diagonal[i - 1]
        diagonal[i] -= 1 / diagonal[i - 1]
    second = [mpf(0)] * len(values)
    for i in reversed(range(n)):
        second[i + 1] = (right[i] - second[i + 2]) / diagonal[i]
    pieces = [
        (a, b - a - (2 * p + q) / 6, p / 2, (q - p) / 6)
        for a, b, p, q in zip(values, values[1:], second, second[1:])
    ]
    a, b, c, d = pieces[-1]
    return pieces, (pieces[0][1] / STEP, (b + 2 * c + 3 * d) / STEP)


@functools.cache
def rule():
    """48 nodes and weights of Gauss–Legendre quadrature on [0, 1]."""
    found = GaussLegendre(mp).calc_nodes(5, mp.prec)
    return [((1 + x) / 2, w / 2) for x, w in found]


@functools.cache
def basis():
    """The knot values of each function of a tilt's basis: z, then the natural splines that are
    orthonormal under N(0, 1) and orthogonal in ∫ f″g″, by rising roughness, without the constant;
    positive at the last knot."""
    n = len(KNOTS)
    hats = [natural_spline([mpf(i == k) for i in range(n)]) for k in range(n)]
    gram, bend = mp.matrix(n), mp.matrix(n)
    # Each hat is a cubic in v on every cell, so moments of v under N are enough; beyond the knots
    # it is 0 + slope (z − edge), or 1 + that at its own knot.
    beyond, at_edge = mp.ncdf(KNOTS[0]), mp.npdf(KNOTS[0])
    tail = [beyond, (at_edge - 4 * beyond) / STEP, (17 * beyond - 4 * at_edge) / STEP**2]
    cells = [(tail, [(mpf(k == 0), -hat[1][0] * STEP) for k, hat in enumerate(hats)])]
    cells += [(tail, [(mpf(k == n - 1), hat[1][1] * STEP) for k, hat in enumerate(hats)])]
    for cell in range(n - 1):
        parts = [(v, STEP * w * mp.npdf(KNOTS[cell] + STEP * v)) for v, w in rule()]
        moments = [mp.fsum(p * v**k for v, p in parts) for k in range(7)]
        cells.append((moments, [hat[0][cell] for hat in hats]))
    for moments, pieces in cells:
        for i in range(n):
            for j in range(i + 1):
                pairs = [
                    (a * b, k + l) for k, a in enumerate(pieces[i]) for l, b in enumerate(pieces[j])
                ]
                gram[i, j] += mp.fsum(c * moments[power] for c, power in pairs)
    for cell in range(n - 1):
        # f″ is linear between knots: (2c + 6dv)/step².
        ends = [(2 * c, 2 * c + 6 * d) for hat in hats for *_, c, d in [hat[0][cell]]]
        for i, (a, b) in enumerate(ends):
            for j, (e, f) in enumerate(ends[: i + 1]):
                bend[i, j] += (2 * (a * e + b * f) + a * f + b * e) / (6 * STEP**3)
    for i in range(n):
        for j in range(i):
            gram[j, i], bend[j, i] = gram[i, j], bend[i, j]
    inverse = mp.cholesky(gram) ** -1
    _, vectors = mp.eigsy(inverse * bend * inverse.T)
    vectors = inverse.T * vectors
    rest = [[vectors[i, k] * mp.sign(vectors[n - 1, k]) for i in range(n)] for k in range(2, n)]
    return [KNOTS, *rest]


def spline_value(pieces, slopes, values, z):
    """A natural spline: cubics between the knots, lines beyond them."""
    if z < KNOTS[0]:
        return values[0] + slopes[0] * (z - KNOTS[0])
    if z >= KNOTS[-1]:
        return values[-1] + slopes[1] * (z - KNOTS[-1])
    cell = int(mp.floor((z - KNOTS[0]) / STEP))
    return cubic(pieces[cell], (z - KNOTS[cell]) / STEP)


def cubic(piece, v):
    a, b, c, d = piece
    return a + v * (b + v * (c + v * d))


class Tilt:
    """N(z) exp f(z) / Z, f a natural spline: Z by quadrature between the knots and in closed form
    beyond them."""

    def __init__(self, coefficients):
        parts = [[mpf(c) * v for v in values] for c, values in zip(coefficients, basis())]
        self.values = [mp.fsum(column) for column in zip(*parts)]
        self.pieces, self.slopes = natural_spline(self.values)
        total = self.beyond(-1, KNOTS[0], self.slopes[0], self.values[0])
        total += self.beyond(1, KNOTS[-1], self.slopes[1], self.values[-1])
        for left, piece in zip(KNOTS, self.pieces):
            total += mp.fsum(
                STEP * w * mp.exp(cubic(piece, v) - (left + STEP * v) ** 2 / 2) for v, w in rule()
            ) / mp.sqrt(2 * mp.pi)
        self.ln_z = mp.log(total)

    @staticmethod
    def beyond(side, edge, slope, value):
        """∫ N(z) exp(value + slope (z − edge)) past the edge: a Gaussian about the slope."""
        ln_mass = value - slope * edge + slope * slope / 2
        return mp.exp(ln_mass) * mp.erfc(side * (edge - slope) / mp.sqrt(2)) / 2

    def ln_density(self, z):
        f = spline_value(self.pieces, self.slopes, self.values, z)
        return f - self.ln_z - z * z / 2 - mp.log(2 * mp.pi) / 2


def roughness(coefficients):
    """∫ f″² of a tilt."""
    ends = ((2 * c, 2 * c + 6 * d) for *_, c, d in Tilt(coefficients).pieces)
    return float(mp.fsum(a * a + a * b + b * b for a, b in ends) / (3 * STEP**3))


class Spline:
    """A tilt with tails of its own: ln T and its slope at knots in y = 2.5 asinh(z/2.5), a cubic between
    two knots and a line beyond them. Normalised here, so that a file's constant is checked as well."""

    SCALE = mpf(5) / 2

    def __init__(self, knots):
        self.knots = [tuple(mpf(float(x)) for x in knot) for knot in knots]
        self.pieces = []
        total = mp.fsum(self.beyond(side, *self.knots[side and -1]) for side in (0, 1))
        for (y, a, p), (end, b, q) in zip(self.knots, self.knots[1:]):
            width = end - y
            p, q = p * width, q * width
            piece = (a, p, 3 * (b - a) - 2 * p - q, 2 * (a - b) + p + q)
            self.pieces.append((y, width, piece))
            parts = (w * mp.exp(cubic(piece, v)) * self.stretch(y + width * v) for v, w in rule())
            total += width * mp.fsum(parts)
        self.ln_z = mp.log(total)

    def stretch(self, y):
        """dz/dy."""
        return mp.cosh(y / self.SCALE)

    def beyond(self, side, y, height, slope):
        """∫ T dz beyond the outermost knot: T times cosh is two exponentials."""
        fall, out = (-slope, y) if side else (slope, -y)
        rate = 1 / self.SCALE
        slow, fast = mp.exp(rate * out) / (fall - rate), mp.exp(-rate * out) / (fall + rate)
        return mp.exp(height) * (slow + fast) / 2

    def ln_density(self, z):
        y = self.SCALE * mp.asinh(z / self.SCALE)
        for side, (edge, height, slope) in ((0, self.knots[0]), (1, self.knots[-1])):
            if (y > edge) if side else (y < edge):
                return height + slope * (y - edge) - self.ln_z
        cell = max(i for i, (left, *_) in enumerate(self.pieces) if left <= y or i == 0)
        left, width, piece = self.pieces[cell]
        return cubic(piece, (y - left) / width) - self.ln_z


def expert(parameters, array):
    """ln T of an expert as the header has it; a tilt that is not version 0.1's from its array."""
    if parameters["kind"] == "tilt" and "roughness" not in parameters:
        return Spline(array).ln_density
    if parameters["kind"] == "tilt":
        return Tilt(parameters["coefficients"]).ln_density
    of = {"student-t": student_t, "mixture": mixture}[parameters["kind"]]
    return lambda z: of(parameters, z)


def matrix(array):
    return mp.matrix([[mpf(float(x)) for x in row] for row in array])


def ln_p(header, arrays, rows):
    """(4) over the data's own columns, of each row."""
    a, back = matrix(arrays["sphering"]), matrix(arrays["unsphering"])
    w, mean = arrays["directions"], [mpf(float(m)) for m in arrays["mean"]]
    (j, d), columns = w.shape, len(mean)
    learned = enumerate(header["state"]["experts"], 1)
    experts = [expert(e["expert"], arrays[f"expert{k}"]) for k, e in learned]
    gram = matrix(w) * matrix(w).T if j else None
    constant = mp.log(mp.det(a * a.T)) / 2 - (d - j) * mp.log(2 * mp.pi) / 2
    constant += mp.log(mp.det(gram)) / 2 if j else 0
    noise = header["whitening"]["rest"]
    noise = mpf(noise["noise"]["variance"]) if isinstance(noise, dict) else None
    found = []
    for row in rows:
        centred = mp.matrix([mpf(float(r)) - m for r, m in zip(row, mean)])
        x = a * centred
        total = constant - mp.fdot(x, x) / 2
        if j:
            z = matrix(w) * x
            total += mp.fsum(ln_t(z) for ln_t, z in zip(experts, z))
            total += mp.fdot(z, mp.lu_solve(gram, z)) / 2
        if noise:
            off = centred - back * x
            total -= mp.fdot(off, off) / noise / 2
            total -= (columns - d) * mp.log(2 * mp.pi * noise) / 2
        found.append(total)
    return found
