/** Differences that docs/fidelity.md lists: a test of the class and of the responses, and the reason. */

const KNOWN = [
  [
    (found) => /^status 410 instead of 200|"Expired"|too old/.test(`${found.name} ${eventsOf(found)}`),
    'the storage of the reference server has compacted the version',
  ],
  [
    (found) => /RequestWatchProgress is disabled/.test(`${found.name} ${eventsOf(found)}`),
    'the storage of the reference server does not support initial events',
  ],
  [
    ({ name, step }) =>
      (name === '.body.details.retryAfterSeconds: nothing instead of 0' ||
        name.startsWith('status 400 instead of 500: invalid resource version')) &&
      step.path.startsWith('/apis/tekton.dev/v1beta1/'),
    'the reference server has no cache for a version whose conversion webhook is missing',
  ],
  [/^status 0 instead of 200/, 'the reference server sends the headers of a watch with its first event'],
  [stopsAtUndeclaredField, 'the first undeclared field is random in the reference server'],
  [haveDecodingErrors, 'one of several decoding errors'],
  [isDiffOfEmpty, 'an empty list or map, or null, in the diff of an immutable spec'],
  [printsSameQuantities, 'the cached text of a quantity in a message'],
  [printsLiveValue, 'a value of the wrong type in a stored struct: the reference server prints its own type'],
  [haveSameManagers, 'managers that wrote in different seconds are sorted by time, others by name'],
  [haveSameLines, 'which of two equal items of a list a diff marks as added is random in the reference server'],
  [
    ({ name, step }) =>
      /^\.body\.(rows\[\]\.object\.)?metadata\.resourceVersion: <rv:0> instead of <rv:0>$/.test(name) &&
      /\/(persistentvolumeclaims|jobs|replicationcontrollers)\/|\/v1\/.*\/horizontalpodautoscalers\//.test(step.path),
    'the first update stores a default of the status',
  ],
  [
    ({ name, scenario }) =>
      name === '.body.metadata.resourceVersion: <rv:0> instead of <rv:0>' &&
      scenario.steps.some(({ body }) => Object.values(body?.binaryData ?? body?.data ?? {}).includes(null)),
    'an update stores null in binaryData, or in the data of a Secret, as empty bytes',
  ],
  [
    ({ name, step }) =>
      /^\.body\.details\.causes\[\]\.message: .*k0s\.io\/client-go\/scale\/u/.test(name) &&
      step.path.endsWith('/scale'),
    'the name of the scheme in an error about the scale of a custom resource',
  ],
  [
    ({ name, step, scenario }) =>
      /currentMetrics\[\]\.resource\.current\.averageValue/.test(name) &&
      step.path.includes('/horizontalpodautoscalers/') &&
      scenario.steps.some(({ path }) => path.includes('/autoscaling/v1/')),
    'an apply in v2 removes what the manager applied to the status in v1',
  ],
  [
    ({ name, scenario }) =>
      name.startsWith('.body.metadata.managedFields[].fieldsV1.f:spec.f:internalTrafficPolicy') &&
      JSON.stringify(scenario.steps).includes('"ExternalName"'),
    'internalTrafficPolicy is not stored for a Service of type ExternalName',
  ],
  [
    ({ name, step }) =>
      name.startsWith('.body.metadata.managedFields: nothing instead of a list') &&
      step.body?.status !== undefined &&
      !step.path.endsWith('/status'),
    'duplicates in the status of an update that cannot change it, with managers in several versions',
  ],
  [
    ({ name, scenario }) =>
      /^\.body\.(binaryD|d)ata\..*: null instead of/.test(name) &&
      scenario.steps.some(({ body }) => body?.metadata?.deletionTimestamp !== undefined),
    'an update that ends a deletion returns null in bytes as it was sent',
  ],
  [
    ({ name, step }) =>
      /^\.body\.metadata\.(generation|managedFields\[\]\.fieldsV1\.f:spec\.f:taint)/.test(name) &&
      step.path.includes('/devicetaintrules/'),
    'the default of timeAdded is the time of the request',
  ],
  [
    ({ name, step, scenario }) =>
      /^\.body\.metadata\.generation: /.test(name) &&
      step.path.includes('webhookconfigurations/') &&
      scenario.steps.some(({ body }) => JSON.stringify(body ?? null).includes('"caBundle":""')),
    'an update removes an empty caBundle',
  ],
  [
    ({ name, step, scenario }) =>
      name === '.body.metadata.resourceVersion: <rv:0> instead of <rv:0>' &&
      step.path.includes('/certificatesigningrequests/') &&
      /"certificate":""|\/certificate","value":""/.test(JSON.stringify(scenario.steps)),
    'an update stores or removes an empty certificate',
  ],
  [/^status -1 instead of/, 'the request makes the reference server panic and close the connection'],
  [/^\.body\.resources\[\]/, 'the order of custom resources in discovery is random'],
  [
    ({ name, step }) =>
      name === '.body.metadata: nothing instead of an object' && step.method === 'DELETE' && isDryRun(step),
    'the empty object of a dry run that removes the last finalizers of a custom resource',
  ],
  [
    ({ step, actual }) =>
      (step.method === 'PUT' || isApply(step)) && /\/services\/[^/]+\/status$/.test(step.path) && actual.status === 404,
    'a write to the status of a missing Service',
  ],
  [
    ({ name, step }) =>
      /^[^;]*\.metadata\.uid: <uid:0> instead of <uid:0>$/.test(name) &&
      step.method === 'POST' &&
      step.path.endsWith('/limitranges'),
    'the name of a LimitRange without a name is its uid',
  ],
  [
    ({ name, actual }) => name.startsWith('.warning') && /createCluster\(\{ dialect/.test(String(actual.warning)),
    'the warning about names of the other dialect',
  ],
  [
    /\{\}.* instead of .*\(nil\)|\(nil\).* instead of .*\{\}/,
    'an empty list or map that a merge or a conversion removes',
  ],
  [
    ({ name, step }) => name.startsWith('.body.spec.ingressClassName: ') && step.path.includes('/ingresses'),
    'an IngressClass of another scenario is the default',
  ],
  [
    ({ name, step }) =>
      name.startsWith('.body.spec.storageClassName: ') && step.path.includes('/persistentvolumeclaims'),
    'a StorageClass of another scenario is the default',
  ],
  [
    ({ step }) => Array.isArray(step.body) && step.body.some(({ from }) => from === '/metadata/resourceVersion'),
    'a patch copies the resourceVersion to another field',
  ],
  [/MarshalCBOR for type v0.FieldsV0/, 'a field set of a template that is not a map, in CBOR'],
  [
    ({ name, step }) => /^\/(api\/v1|apis\/[^/]+\/[^/]+)(\/|\/.*\/\.\.)?$/.test(step.path) && /cbor|hex/.test(name),
    'the reference server has no CBOR in discovery',
  ],
  [
    ({ step, expected }) =>
      step.method === 'PATCH' &&
      step.path.includes('/controllerrevisions/') &&
      messageOf(expected).includes('data: Invalid value: runtime.RawExtension'),
    'a patch sorts the keys of the data of a ControllerRevision',
  ],
  [
    ({ name, step }) =>
      name.startsWith('status 200 instead of 422') &&
      step.method === 'PATCH' &&
      !Array.isArray(step.body) &&
      /\/v\d+(alpha|beta)\d+$/.test(step.body?.apiVersion ?? ''),
    'a patch that sets the apiVersion to a version that is not served any more',
  ],
  [
    ({ step, expected }) =>
      Array.isArray(step.body) &&
      step.body.some(({ from, op, path }) => from === '/apiVersion' || (op === 'remove' && path === '/apiVersion')) &&
      / into Go struct field \w+\.[A-Z]/.test(messageOf(expected)),
    'a patch removes the apiVersion and sets a field by its name in Go',
  ],
  [
    ({ name, step }) =>
      /^(\.body\.metadata\.managedFields\[\]\.fieldsV1\.f:metadata[^;]*(; )?)+$/.test(name) &&
      /autoscaling\/v2\/.*\/horizontalpodautoscalers\/[^/]+$/.test(step.path) &&
      step.body?.status !== undefined,
    'the owner in v1 of the annotations for a status that a write to the main endpoint ignores',
  ],
  [
    ({ name, step }) => name.startsWith('.body.spec.strategy: nothing') && step.path.includes('/leasecandidates/'),
    'an empty strategy of a LeaseCandidate in v1alpha2',
  ],
  [
    ({ name, step }) =>
      name.includes('volumeClaimTemplate') && /\/pods\//.test(step.path) && name.startsWith('.body.details.causes'),
    'the metadata of a volume claim template in the diff of an immutable pod spec',
  ],
  [
    ({ name, scenario }) =>
      name === '.body.metadata.resourceVersion: <rv:0> instead of <rv:0>' &&
      scenario.steps.some(({ body }) => Object.values(body?.metadata ?? {}).includes('')),
    'an update removes an empty field of the metadata of an applied custom resource',
  ],
  [
    /is already marked as default|^\.body\.spec\.priority: .*; \.body\.spec\.priorityClassName: /,
    'a PriorityClass of another scenario is the default',
  ],
  [
    ({ name, actual }) =>
      /^(\.warning|status 400 instead of 400): .*unknown field/.test(name) &&
      messageOf(actual).startsWith('the API version in the data ('),
    'unknown fields of a body in a version that is not served any more',
  ],
  [/%!.*\(MISSING\)/, 'a percent sign in a value of the wrong type'],
  [/already allocated/, 'a fixed address or port of a Service that another scenario uses'],
];

/**
 * The reason for a difference, if it is a known one: `{ name, step, scenario, expected, actual }`, with the class, the
 * request, its scenario and the responses.
 */
export function reasonFor(found) {
  return KNOWN.find(([test]) => (typeof test === 'function' ? test(found) : test.test(found.name)))?.[1];
}

function eventsOf({ expected }) {
  return Array.isArray(expected.body) ? JSON.stringify(expected.body) : '';
}

function isApply({ headers }) {
  return headers?.['content-type']?.startsWith('application/apply-patch') === true;
}

function isDryRun({ query, body }) {
  return query?.dryRun !== undefined || body?.dryRun !== undefined;
}

const UNTYPED = /^(failed to (?:create typed patch|create typed live|convert new) object(?: \(.*?\)[^:]*)?: )/;

/**
 * Both report the same configuration, and at least one of them a field that the schema does not declare; or both report
 * such a field of the stored object in another version, which they do not name.
 */
function stopsAtUndeclaredField({ expected, actual }) {
  const messages = [messageOf(expected), messageOf(actual)];
  const [left, right] = messages.map((message) => UNTYPED.exec(message)?.[1]);
  const areUndeclared = messages.map((message) => message.includes('field not declared'));
  return left === right && (left === undefined ? areUndeclared.every(Boolean) : areUndeclared.some(Boolean));
}

const DECODING =
  /(error decoding from json: )?((json: )?cannot unmarshal|boolean or JSON schema expected|parsing time|cannot parse|quantities must match|invalid duration|illegal base64)/;

/** Both report an error of the decoder about the same body, with the same code. */
function haveDecodingErrors({ expected, actual }) {
  const messages = [messageOf(expected), messageOf(actual)];
  if (expected.status !== actual.status || !messages.every((message) => DECODING.test(message))) return false;
  const [left, right] = messages.map((message) => message.slice(0, message.search(DECODING)));
  return left === right;
}

/** Both print a diff, and the scenario has an empty list or map, or null. */
function isDiffOfEmpty({ name, scenario, expected, actual }) {
  const hasDiffs = [expected, actual].every((response) => /^[+-] \t/m.test(messageOf(response)));
  const bodies = JSON.stringify(scenario.steps.map(({ body }) => body));
  return hasDiffs && name.startsWith('.body.details.causes') && /\[\]|\{\}|null/.test(bodies);
}

/** The messages are the same except for the cached texts of the quantities of LimitRanges, autoscalers and volumes. */
function printsSameQuantities({ step, expected, actual }) {
  const [left, right] = [expected, actual].map((each) => messageOf(each).replace(/,? ?s: ?"[^"]*"/g, ''));
  const isPrinted = /\/(limitranges|horizontalpodautoscalers)\b/.test(step.path) || left.includes('SizeLimit');
  return isPrinted && left === right && left.includes('resource.');
}

/** The messages are about the type of the same field of a stored object. */
function printsLiveValue({ expected, actual }) {
  const [left, right] = [expected, actual].map((each) => messageOf(each).split(', got &{')[0]);
  return left === right && /^failed to create (manager for existing fields|typed live object)/.test(left);
}

/** The messages are the same diff, with the lines in another order. */
function haveSameLines({ expected, actual }) {
  const [left, right] = [messageOf(expected), messageOf(actual)].map((message) =>
    message.split('\n').sort().join('\n'),
  );
  return left === right && /^[+-] \t/m.test(left);
}

/** The messages print the same object, with the entries of its managedFields in another order. */
function haveSameManagers({ expected, actual }) {
  const messages = [expected, actual].map(messageOf);
  const [left, right] = messages.map((message) =>
    message
      .split(/[[\]{},]+/)
      .sort()
      .join(),
  );
  return left === right && messages.every((message) => (message.match(/\bmanager\\*"/g)?.length ?? 0) > 1);
}

function messageOf({ body }) {
  return body?.kind === 'Status' ? String(body.message) : '';
}
