import type { Service } from '@quittance/shared/events';
import type { QuittanceOptions } from '@quittance/testkit/quittance';
import type { CrashFixture } from './crash-fixture.ts';
import type { CrashAsset, Ended, Scenario } from './crash-scenarios.ts';

/** A kind of crash: which service dies, and what runs across it beside a payment and a payout. */
export type Kind = {
  service: Service;
  /** `name`, or `name:nth` where the first passing is not the one that matters. Each is a row of the matrix. */
  points: readonly string[];
  scenario?: Scenario;
  /** What comes before the service is told where to die; what it began ends with the rest. */
  prepare?: (fixture: CrashFixture) => Promise<Promise<Ended>[]>;
  /** In a round of its own: nobody else dies beside it, and its scenario is all that runs. */
  alone?: true;
};

/** One way to die. */
export type Row = Omit<Kind, 'points'> & {
  point: string;
  /** Dies at these points as well, one after the other, in the same scenario. */
  next?: readonly string[];
};

/** A stack, what its merchant begins with, and who dies on it. */
export type FailpointSuite = {
  options: QuittanceOptions;
  funds: readonly (readonly [CrashAsset, dollars: number])[];
  /** What runs across every crash. */
  always: Scenario;
  kinds: readonly Kind[];
};

/** The names of all points of a row. */
export const pointsOf = ({ point, next = [] }: Row): string[] => [nameOf(point), ...next.map(nameOf)];

export const nameOf = (point: string): string => point.split(':')[0] ?? point;
