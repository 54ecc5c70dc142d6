/**
 * The public names that `orchplane` and `orchplane/core` share, by topic. The two entries add `createCluster`, `defineKind`
 * and `defaultAdmission`, which differ between them.
 */

// Clusters: options, snapshots, history, time and identity

export type { FeatureGateSettings, FeatureGates } from '../kinds/feature-gates.js';
export { type Dialect, type DialectName, dialectNamed } from '../meta/dialect.js';
export type { RuntimeConfig } from '../registry/availability.js';
export type { ChangeRecord, HistoryOptions, ObjectReference } from '../server/history.js';
export type { Activities, Activity, RestOptions } from '../util/activity.js';
export { type Clock, systemClock, type TimerOptions, type Undo } from '../util/clock.js';
export { type Ids, randomIds } from '../util/ids.js';
export type { Cluster, ClusterSnapshot } from './cluster.js';
export type { ClusterOptions, ForkOptions } from './options.js';

// Clients: reading, writing, watching, informers

export type {
  Api,
  ApplyInputOf,
  Collection,
  ObjectApi,
  SubresourceApi,
  SubresourceKind,
  SubresourceKinds,
} from '../client/api.js';
export { type Client, type ClientOptions, createClient } from '../client/client.js';
export type { ApplyPlan, FieldChange, PlannedField } from '../client/explain/apply-plan.js';
export type { FieldOwner, OwnedField, Ownership } from '../client/explain/ownership.js';
export type { ControllerStarter, Host, LocalHost } from '../client/host.js';
export type { Informer, InformerEvent, InformerListener, InformerOptions } from '../client/informer.js';
export type {
  ApplyOptions,
  ClientDefaults,
  DeleteCollectionOptions,
  DeleteOptions,
  EditOptions,
  FieldValidation,
  GetOptions,
  ListOptions,
  PagesOptions,
  WaitForOptions,
  WatchOptions,
  WriteOptions,
} from '../client/options.js';
export {
  type AppliedBody,
  type JsonPatch,
  type JsonPatchOperation,
  jsonPatch,
  type MergePatch,
  mergePatch,
  type Patch,
  type StrategicPatch,
  strategicPatch,
} from '../client/patches.js';
export type { Recipe } from '../client/requests.js';
export type { FieldsOption, LabelsOption } from '../client/selectors.js';
export type { Predicate } from '../client/wait-for.js';
export type { Watch, WatchEvent } from '../client/watch.js';

// Kinds: defining them and the types of their objects

export { scale, scaleAt } from '../crd/scale.js';
export type { KindDefinition, SpecDraft } from '../kinds/define-kind.js';
export type { PropagationPolicy } from '../kinds/deletion.js';
export type { DraftOf, InputOf, Kind, ObjectOf, Scope, SubresourceOf } from '../kinds/kind.js';
export type { KindCrd, KindRule } from '../kinds/kind-crd.js';
export type { ObjectAddress, ObjectReader } from '../kinds/objects.js';
export type { ServedKind } from '../kinds/served-kind.js';
export { status } from '../kinds/status-subresource.js';
export type { ScalePaths } from '../kinds/subresource.js';
export { atomic, mapList, type SchemaKeywords, setList, withKeywords } from '../schema/hints.js';

// Objects and values

export type { GroupResource, GroupVersion, GroupVersionKind, GroupVersionResource } from '../meta/gvk.js';
export type { LabelSelectorExpression } from '../meta/labels.js';
export type {
  ApiList,
  ApiObject,
  ClusterObject,
  ClusterObjectMeta,
  CommonInput,
  CommonObject,
  DeepReadonly,
  DraftMeta,
  DraftObject,
  InputBase,
  ListMeta,
  ManagedFieldsEntry,
  NamespacedObject,
  NamespacedObjectMeta,
  ObjectBase,
  ObjectMeta,
  ObjectMetaInput,
  OwnerReference,
} from '../meta/object.js';
export { Quantity, QuantityError } from '../meta/quantity.js';
export type { Status, StatusCause, StatusDetails, StatusReason } from '../meta/status.js';

// Errors

export { errors, StatusError } from '../meta/errors.js';
export { type FieldError, type FieldErrorType, fieldError } from '../meta/field-error.js';

// Authentication and authorization

export type {
  AccessFilter,
  AccessReport,
  RecordedAccess,
  RoleLike,
  RoleManifest,
  RoleYamlOptions,
} from '../auth/access-report.js';
export type {
  AuthenticationRequest,
  AuthenticatorContext,
  RequestAuthenticator,
  TokenAuthenticator,
  TokenAuthenticatorFactory,
  TokenIdentity,
  TokenTable,
} from '../auth/authentication.js';
export {
  type Authorizer,
  type AuthorizerContext,
  type AuthorizerFactory,
  allowAll,
  allowAuthenticated,
  denyAll,
  unionAuthorizer,
} from '../auth/authorizer.js';
export type { AuthenticationOptions, ClusterAuthentication } from '../auth/cluster-authentication.js';
export { rbac } from '../auth/rbac/authorizer.js';
export {
  type AccessRecording,
  type AccessSource,
  type RecordAccessOptions,
  recordAccess,
} from '../auth/record-access.js';
export type { AccountTokenOptions } from '../auth/tokens/account-tokens.js';
export type {
  AccessAttributes,
  AccessDecision,
  AccessRule,
  AccessRules,
  PathAttributes,
  ResourceAttributes,
} from '../protocol/access.js';
export type { AccessListener, AccessListenerOptions } from '../server/context.js';

// Admission, webhooks and audit

export { type AdmissionDefinition, defineAdmission } from '../admission/define.js';
export type { AdmissionPlugin, AdmissionRequest, ClusterView, Operation } from '../admission/types.js';
export type { AuditEvent, AuditLevel, AuditStage } from '../audit/event.js';
export { type AuditLog, type AuditLogOptions, auditLog } from '../audit/log.js';
export type { AuditPolicy, AuditPolicyRule } from '../audit/policy.js';
export type {
  ConvertObject,
  WebhookAddress,
  WebhookCaller,
  WebhookFunction,
  WebhookResolver,
  Webhooks,
} from '../kinds/reconciler.js';

// Storage: history limits, journals, saved states

export {
  type Journal,
  type JournalContent,
  JournalError,
  type JournalRecord,
  type JournalState,
} from '../storage/journal/types.js';
export {
  type MemoryStorageOptions,
  memoryStorage,
  type SharedStorage,
  type StorageSettings,
} from '../storage/memory-storage.js';
export type { ClusterState } from '../storage/state.js';

// Requests: middleware and transports

export { type ParsedBody, type RequestBody, valueBody } from '../protocol/body.js';
export type { ApiRequest, PatchType, Preconditions, RequestOptions, User, Verb } from '../protocol/request.js';
export type { ApiResponse, ObjectResponse, WatchResponse } from '../protocol/response.js';
export type { Transport } from '../protocol/transport.js';
export type {
  Bookmark,
  BookmarkEvent,
  ChangeEvent,
  ErrorEvent,
  ServerWatchEvent,
  WatchStream,
} from '../protocol/watch-event.js';
export type { Middleware, Next } from '../server/middleware.js';
