/** The settings of the shop, among what is read. */
export const SHOP = ['invoice-settings'] as const;

/** The fields that differ from what was read: what somebody else has changed meanwhile stays. */
export function changesOf<T extends object>(before: T, after: T): Partial<T> {
  const names = Object.keys(after) as (keyof T)[];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(changed.map((name) => [name, after[name]])) as Partial<T>;
}
