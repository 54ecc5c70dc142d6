/** Differences that docs/fidelity.md lists: a test of the class, or of the reference server's response, and the reason. */

const KNOWN = [
  [/^status 410 instead of 200|"Expired"|too old/, 'the storage of the reference server has compacted the version'],
  [/RequestWatchProgress is disabled/, 'the storage of the reference server does not support initial events'],
  [/^status 0 instead of 200/, 'the reference server sends the headers of a watch with its first event'],
  [/field not declared/, 'the first undeclared field is random in the reference server'],
  [/^\.body\.metadata\.resourceVersion: <rv:0> instead of <rv:0>$/, 'the first update stores a default of the status'],
  [/^status -1 instead of/, 'the request makes the reference server panic and close the connection'],
  [/^\.body\.resources\[\]/, 'the order of custom resources in discovery is random'],
  [/in the dialect kubernetes; createCluster/, 'the warning about names of the other dialect'],
  [
    /\{\}.* instead of .*\(nil\)|\(nil\).* instead of .*\{\}/,
    'an empty list or map that a merge or a conversion removes',
  ],
  [/^status (201|422) instead of 404: Service/, 'a write to the status of a missing Service'],
  [/already allocated/, 'a fixed address or port of a Service that another scenario uses'],
];

/** The reason for a class of differences, if it is a known one. */
export function reasonFor(name, expected) {
  const events = Array.isArray(expected.body) ? JSON.stringify(expected.body) : '';
  return KNOWN.find(([pattern]) => pattern.test(name) || pattern.test(events))?.[1];
}
