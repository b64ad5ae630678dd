// breaks: testkit-is-for-tests
import { builder } from '../../packages/testkit/src/builder.ts';

export const demo = builder;
