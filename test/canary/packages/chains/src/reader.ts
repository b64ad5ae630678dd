// breaks: packages-know-no-service
import { payoutView } from '../../../services/payouts/src/views.ts';

export const reader = payoutView;
