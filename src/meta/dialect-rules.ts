/**
 * What the API accepts differs between the dialects: `orch` follows the specification where it is explicit, `kubernetes`
 * follows the reference server. Each difference is one member here, which generic code and validators read from
 * `dialect.rules`. The ids are rows of docs/specification.md.
 */

/** The differences between the dialects in what is accepted, defaulted and returned. */
export interface DialectRules {
  /** R2.5: in `nonResourceURLs` of a role, `*` must be the whole last segment. */
  readonly wildcardIsLastUrlSegment: boolean;
}

/** The rules of the specification. */
export const ORCH_RULES: DialectRules = {
  wildcardIsLastUrlSegment: true,
};

/** The rules of the reference server. */
export const KUBERNETES_RULES: DialectRules = {
  wildcardIsLastUrlSegment: false,
};
