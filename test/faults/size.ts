/** `FAULTS=full` runs every fault as often as is claimed for it; without it few enough for every day. */
export const sized = (small: number, full: number): number =>
  process.env['FAULTS'] === 'full' ? full : small;
