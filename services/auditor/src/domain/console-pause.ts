/** The reason of a pause that was set in the console of operators, in the place of an invariant. */
export const BY_CONSOLE = 'operator console';

/** Whether the console has set a pause, and nothing else has a part in it. */
export const isByConsole = ({
  discrepancies,
}: {
  discrepancies: readonly { invariant: string }[];
}): boolean => discrepancies.length > 0 && discrepancies.every(({ invariant }) => invariant === BY_CONSOLE);
