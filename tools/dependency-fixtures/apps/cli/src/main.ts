// breaks: services-are-entered-by-operations, cli-runs-in-production
import { payoutView } from '../../../services/payouts/src/views.ts';
import { voidHold } from '../../../services/ledger/src/operations/void-hold.ts';
import { anvil } from '../../../testing/engines/src/anvil.ts';

voidHold({ db: payoutView, anvil });
