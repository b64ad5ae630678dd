import { builder } from '../../../../packages/testkit/src/builder.ts';

export const aPayout = builder;
