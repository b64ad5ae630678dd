import { failpoint } from './failpoint.ts';

/** The former name of `failpoint`, for services that still use it. */
export const crashPoint = failpoint;
