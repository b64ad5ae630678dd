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

/**
 * How long the browser took until it had drawn what came of an act, and how long its main thread computed until the act was
 * over: for the data too where the act waits for them. In milliseconds.
 */
export type Interaction = { fastest: number; median: number; computed: number };

/**
 * Measures an act several times. What runs beside the browser may make each of them wait; `computed`, the least of all, is
 * the processor's time of the page alone.
 */
export async function measureInteraction(
  page: Page,
  times: number,
  act: (turn: number) => Promise<void>,
): Promise<Interaction> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const computedSoFar = async () => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    const seconds = metrics.find(({ name }) => name === 'TaskDuration')?.value;
    if (seconds === undefined) throw new Error('the browser does not say how long its tasks took');
    return seconds * 1_000;
  };
  await page.evaluate('window.interactions = new Map()');
  const computed: number[] = [];
  for (let turn = 0; turn < times; turn++) {
    const before = await computedSoFar();
    await act(turn);
    computed.push((await computedSoFar()) - before);
  }
  const longest = await page.evaluate<number[]>('noted()');
  await devtools.detach();
  // What took less than a frame is not told of.
  const all = [...longest, ...Array<number>(Math.max(0, times - longest.length)).fill(0)].sort(
    (a, b) => a - b,
  );
  return {
    fastest: all[0] ?? 0,
    median: all[Math.floor(all.length / 2)] ?? 0,
    computed: Math.round(Math.min(...computed)),
  };
}
