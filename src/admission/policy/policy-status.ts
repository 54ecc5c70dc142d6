/**
 * Keeps the status of policies: which generation was looked at, and what does not fit the kinds it is about. It is a
 * controller of its own in the reference; here it is done with the write, by whoever is asked to.
 */
import type { Attendant, AttendedServer } from '../../kinds/attendant.js';
import { serviceGroup } from '../../meta/dialect.js';
import type { ApiObject } from '../../meta/object.js';
import { checkPolicyTypes, type KindLookups } from './check-types.js';
import type { PolicySpec } from './compiled-policy.js';

const POLICIES = { group: serviceGroup('admissionregistration'), resource: 'validatingadmissionpolicies' };

/** As which the status is written. */
const MANAGER = 'validatingadmissionpolicy-status';

interface Policy {
  readonly metadata: { readonly generation?: number };
  readonly spec: PolicySpec;
  readonly status?: { readonly observedGeneration?: number };
}

/** An attendant of ValidatingAdmissionPolicy. */
export function policyStatus(server: AttendedServer, lookups: KindLookups): Attendant {
  let seen = -1;
  return {
    settle() {
      if (server.changes(POLICIES) === seen) return;
      for (const policy of server.objects.list(POLICIES)) settlePolicy(policy, server, lookups);
      // What was written here has been seen here.
      seen = server.changes(POLICIES);
    },
  };
}

function settlePolicy(object: ApiObject, server: AttendedServer, lookups: KindLookups): void {
  const { metadata, spec, status } = object as unknown as Policy;
  const { generation = 0 } = metadata;
  if (generation <= (status?.observedGeneration ?? 0)) return;
  const warnings = checkPolicyTypes(spec, lookups);
  const typeChecking = warnings.length === 0 ? {} : { expressionWarnings: warnings };
  server.writeStatus(
    object,
    (draft) => {
      draft['status'] = { observedGeneration: generation, typeChecking };
    },
    MANAGER,
  );
}
