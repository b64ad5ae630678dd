import { requestBatcher } from './request-batcher.ts';

/** The former name of `requestBatcher`, for services that still use it. */
export const gather = requestBatcher;
