// breaks: services-are-entered-by-operations
import { payoutView } from '../../../services/payouts/src/views.ts';
import { voidHold } from '../../../services/ledger/src/operations/void-hold.ts';

voidHold({ db: payoutView });
