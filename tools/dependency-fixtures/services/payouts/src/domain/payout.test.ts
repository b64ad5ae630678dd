import { builder } from '../../../../testing/testkit/src/builder.ts';

export const aPayout = builder;
