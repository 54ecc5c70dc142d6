/**
 * What the API accepts differs between the dialects: `orch` follows the specification where it is explicit, `kubernetes`
 * follows the reference server. Each difference is one member here, which generic code and validators read from
 * `dialect.rules`. The ids are rows of docs/specification.md.
 */

/** The differences between the dialects in what is accepted, defaulted and returned. */
export interface DialectRules {
  /** R0.3: every list has a resourceVersion, also one of objects that are computed. */
  readonly everyListHasResourceVersion: boolean;
  /** R1.7: the groups that can read ClusterTrustBundles. */
  readonly trustBundleReaders: readonly string[];
  /** R2.5: in `nonResourceURLs` of a role, `*` must be the whole last segment. */
  readonly wildcardIsLastUrlSegment: boolean;
  /** R3.3: an address is not both ready and not ready in one subset of Endpoints. */
  readonly endpointAddressHasOneReadiness: boolean;
  /** R4.2: the data of a ControllerRevision is optional. */
  readonly revisionDataIsOptional: boolean;
  /** R23.2: a policy validation with an expression of several lines needs a message. */
  readonly longExpressionNeedsMessage: boolean;
  /** R23.4: the reasons of a policy validation. */
  readonly policyReasons: readonly string[];
  /** R24.4: the kind that a CustomResourceDefinition declares is in CamelCase. */
  readonly customKindIsCamelCase: boolean;
  /** R24.15: the formats of a printer column. */
  readonly printerColumnFormats: readonly string[];
  /** By Go type. */
  readonly types: Readonly<Record<string, TypeRule>>;
  /** S1.7: PUT to the name of an absent object creates it, for every kind that can be created. */
  readonly updateCreatesAbsent: boolean;
  /** E2.5: a delete whose object remains, and every deletecollection, returns a Status. */
  readonly deleteReturnsStatus: boolean;
  /** E3.6: the query of a delete applies with a body too, and `resourceVersion` of a deletecollection only selects. */
  readonly deleteQueryApplies: boolean;
  /** V1.3: the object of a bookmark has only its type and a resourceVersion. */
  readonly minimalBookmarks: boolean;
}

/** How the fields of a type differ from its declaration. */
export interface TypeRule {
  /** By field. The rule is for the type that has all of these fields: two packages may use a name. */
  readonly fields: Readonly<Record<string, FieldRule>>;
  /** A value with no field at all is invalid. */
  readonly isNonEmpty?: boolean;
  /** Apply replaces a value as a whole. */
  readonly isAtomic?: boolean;
}

/** How a field differs from its declaration. */
export interface FieldRule {
  /**
   * `given`: a field that the type declares as required must be given, even if as 0 or an empty string. `nonEmpty`: a
   * string must not be empty.
   */
  readonly required?: 'given' | 'nonEmpty';
  /** The values of a string. */
  readonly values?: readonly string[];
  readonly default?: string;
  /** The items of a list differ in this field. */
  readonly uniqueBy?: string;
  /** The rule of the items of a list, for a type that other lists have too. */
  readonly items?: TypeRule;
}

const CONDITION_STATUS: FieldRule = { required: 'nonEmpty', values: ['True', 'False', 'Unknown'] };
const CONDITION: TypeRule = { fields: { type: { required: 'nonEmpty' }, status: CONDITION_STATUS } };
const GIVEN: FieldRule = { required: 'given' };

/** The rules of the specification. */
export const ORCH_RULES: DialectRules = {
  everyListHasResourceVersion: true,
  trustBundleReaders: ['system:authenticated', 'system:serviceaccounts'],
  wildcardIsLastUrlSegment: true,
  endpointAddressHasOneReadiness: true,
  revisionDataIsOptional: true,
  longExpressionNeedsMessage: true,
  policyReasons: ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized'],
  customKindIsCamelCase: true,
  printerColumnFormats: ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'name', 'password'],
  types: {
    // R4.1
    ControllerRevision: { fields: { revision: GIVEN } },
    // R5.13
    FlowSchemaCondition: { fields: { status: { values: ['True', 'False', 'Unknown'] } } },
    // R6.1
    LimitRangeSpec: { fields: { limits: GIVEN } },
    // R10.2
    NamespaceCondition: CONDITION,
    // R12.1
    DeviceClass: { fields: { spec: GIVEN } },
    // R13.9
    APIServiceCondition: CONDITION,
    // R14.5: only in the events group; the field is optional in the core group.
    EventSeries: { fields: { count: GIVEN } },
    // R18.1
    PriorityClass: { fields: { value: GIVEN } },
    // R19.6
    TokenRequest: { fields: { audience: GIVEN } },
    // R20.1
    CSINode: { fields: { spec: GIVEN } },
    CSINodeSpec: { fields: { drivers: GIVEN } },
    // R22.14
    VolumeProjection: { fields: {}, isNonEmpty: true },
    // R22.6, R22.8
    ISCSIVolumeSource: { fields: { lun: GIVEN, fsType: { default: 'ext4' } } },
    // R23.13
    ValidatingAdmissionPolicyStatus: { fields: { conditions: { items: { fields: { message: GIVEN } } } } },
    // R23.11
    ValidatingAdmissionPolicySpec: { fields: { variables: { uniqueBy: 'name' } } },
    // R24.9
    WebhookConversion: { fields: {}, isAtomic: true },
    // R24.11
    CustomResourceDefinitionVersion: { fields: { served: GIVEN, storage: GIVEN } },
  },
  updateCreatesAbsent: true,
  deleteReturnsStatus: true,
  deleteQueryApplies: true,
  minimalBookmarks: true,
};

/** The rules of the reference server. */
export const KUBERNETES_RULES: DialectRules = {
  everyListHasResourceVersion: false,
  trustBundleReaders: ['system:serviceaccounts'],
  wildcardIsLastUrlSegment: false,
  endpointAddressHasOneReadiness: false,
  revisionDataIsOptional: false,
  longExpressionNeedsMessage: false,
  policyReasons: ['Forbidden', 'Invalid', 'RequestEntityTooLarge'],
  customKindIsCamelCase: false,
  printerColumnFormats: ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'],
  types: {},
  updateCreatesAbsent: false,
  deleteReturnsStatus: false,
  deleteQueryApplies: false,
  minimalBookmarks: false,
};
