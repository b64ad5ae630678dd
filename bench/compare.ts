import { drive, type Measured, median } from './drive.ts';

/** A path of ours against its yardstick, measured in turn in the same run: the ratio is the result. */
export type Comparison = {
  name: string;
  yardstick: string;
  /** The least that ours should reach, as a share of the yardstick. */
  target: number;
  clients: number;
  ours(client: number): Promise<void>;
  theirs(client: number): Promise<void>;
};

export type Outcome = {
  name: string;
  yardstick: string;
  target: number;
  ratio: number;
  ours: Measured;
  theirs: Measured;
};

const WARM_UP_SECONDS = 2;
const ROUNDS = 5;
const ROUND_SECONDS = 3;

/** Warms both up, then measures them in turn; the medians of the rounds and of their ratios count. */
export async function compare({ ours, theirs, clients, ...named }: Comparison): Promise<Outcome> {
  await drive(theirs, clients, WARM_UP_SECONDS);
  await drive(ours, clients, WARM_UP_SECONDS);
  const rounds: { ours: Measured; theirs: Measured }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const yard = await drive(theirs, clients, ROUND_SECONDS);
    rounds.push({ theirs: yard, ours: await drive(ours, clients, ROUND_SECONDS) });
  }
  return {
    ...named,
    ratio: median(rounds.map((round) => round.ours.perSecond / round.theirs.perSecond)),
    ours: medians(rounds.map((round) => round.ours)),
    theirs: medians(rounds.map((round) => round.theirs)),
  };
}

const medians = (all: readonly Measured[]): Measured => ({
  perSecond: median(all.map((one) => one.perSecond)),
  p50Ms: median(all.map((one) => one.p50Ms)),
  p99Ms: median(all.map((one) => one.p99Ms)),
});
