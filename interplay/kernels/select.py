"""Order statistics without sorting: Hoare's FIND (1961), linear on average."""

from interplay.core.jit import kernel


@kernel
def select(values, low, high, rank):
    """The value at `rank` if values[low:high] were sorted ascending; low <= rank < high.

    Rearranges values[low:high]: afterwards nothing before `rank` is above it, nothing behind it below. No NaN.
    """
    high -= 1
    while low < high:
        pivot = _middle(values[low], values[(low + high) // 2], values[high])
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            return values[rank]
    return values[rank]


@kernel
def _middle(a, b, c):
    return max(min(a, b), min(max(a, b), c))
