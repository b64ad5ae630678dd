/**
 * Events in the order of their arrival, but those of one invoice or payout by its version: the later one never
 * gets the smaller number when both are numbered at once.
 */
export function inOrder<E extends { resourceId: string; version: number }>(arrived: readonly E[]): E[] {
  const byResource = new Map<string, E[]>();
  for (const [resource, events] of Map.groupBy(arrived, (event) => event.resourceId)) {
    byResource.set(
      resource,
      events.toSorted((a, b) => a.version - b.version),
    );
  }
  // Where an event of a resource arrived, the next one of that resource goes.
  return arrived.map((event) => byResource.get(event.resourceId)?.shift() ?? event);
}
