// breaks: packages-import-packages
import { payoutView } from '../../../services/payouts/src/views.ts';

export const reader = payoutView;
