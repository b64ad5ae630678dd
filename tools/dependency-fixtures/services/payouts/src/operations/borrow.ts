// breaks: suites-are-not-imported
import { aPayout } from '../domain/payout.test.ts';

export const borrow = aPayout;
