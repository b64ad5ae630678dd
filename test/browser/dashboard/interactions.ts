import type { Page } from 'playwright-core';

/** The longest event of each interaction, as the browser measures it (Event Timing). Runs before the scripts of a page. */
export const NOTE_INTERACTIONS = `
  window.interactions = new Map();
  const note = (entries) => {
    for (const { interactionId: id, duration } of entries)
      if (id) interactions.set(id, Math.max(duration, interactions.get(id) ?? 0));
  };
  const observer = new PerformanceObserver((list) => note(list.getEntries()));
  observer.observe({ type: 'event', durationThreshold: 16 });
  window.noted = async () => {
    // What a frame has drawn is told of after it.
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
    note(observer.takeRecords());
    return [...interactions.values()];
  };
`;

/** How long the browser took until it had drawn what came of an act, in milliseconds. */
export type Interaction = { fastest: number; median: number };

/** Measures an act several times. What runs beside the browser slows some of them, a slow page all of them. */
export async function measureInteraction(
  page: Page,
  times: number,
  act: (turn: number) => Promise<void>,
): Promise<Interaction> {
  await page.evaluate('window.interactions = new Map()');
  for (let turn = 0; turn < times; turn++) await act(turn);
  const longest = await page.evaluate<number[]>('noted()');
  // What took less than a frame is not told of.
  const all = [...longest, ...Array<number>(Math.max(0, times - longest.length)).fill(0)].sort(
    (a, b) => a - b,
  );
  return { fastest: all[0] ?? 0, median: all[Math.floor(all.length / 2)] ?? 0 };
}
