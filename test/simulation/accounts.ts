import type { AccountId } from '@quittance/shared/ids';

export const ACCOUNTS = ['acc_first', 'acc_second'] as AccountId[];
