import type { Quittance } from '@quittance/testkit/quittance';

/** The stack that all cases of a suite share. Each opens accounts of its own. */
export type OnStack = () => Quittance;
/** How many blocks make a payment final there. */
export const CONFIRMATIONS = 2;
/** Limits of the gateway that no case is about: all of its people have one address. */
export const OUT_OF_THE_WAY = { SIGN_INS_PER_MINUTE: '10000', SESSION_REQUESTS_PER_MINUTE: '1000000' };
