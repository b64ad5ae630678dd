const LENGTH_MAX = 64;
const PREFIX_MIN = 3;
const NAMED_MAX = 5;

/** Case, spaces, hyphens and underscores are the most frequent slips: they do not count as a difference. */
const plain = (text: string): string => text.toLowerCase().replace(/[\s_-]/g, '');

/** The known names that a misspelt one probably means, at most five; none when nothing is near. */
export function nearest(given: string, known: readonly string[]): string[] {
  const wanted = plain(given);
  if (wanted === '' || wanted.length > LENGTH_MAX) return [];
  const same = known.filter((name) => plain(name) === wanted);
  if (same.length > 0) return same.slice(0, NAMED_MAX);
  const begun = known.filter((name) => oneBeginsWithTheOther(plain(name), wanted));
  if (begun.length > 0 && begun.length <= NAMED_MAX) return begun;
  const distances = known.map((name) => ({ name, distance: editDistance(plain(name), wanted) }));
  const near = distances.filter(
    ({ name, distance }) => distance * 3 <= Math.max(plain(name).length, wanted.length),
  );
  const least = Math.min(...near.map(({ distance }) => distance));
  return near.flatMap(({ name, distance }) => (distance === least ? [name] : [])).slice(0, NAMED_MAX);
}

function oneBeginsWithTheOther(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= PREFIX_MIN && long.startsWith(short);
}

/** Damerau and Levenshtein's distance: a letter too many, too few or wrong is one edit, and so are two that changed places. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const edits = [(last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + cost];
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        edits.push((beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(Math.min(...edits));
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? 0;
}

/** "Did you mean A or B?"; undefined when nothing is near. */
export function didYouMean(given: string, known: readonly string[]): string | undefined {
  const near = nearest(given, known);
  const last = near.pop();
  if (last === undefined) return undefined;
  return near.length === 0 ? `Did you mean ${last}?` : `Did you mean ${near.join(', ')} or ${last}?`;
}
