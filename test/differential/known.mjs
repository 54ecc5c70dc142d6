/** Differences that docs/fidelity.md lists: a test of the class, or of the reference server's response, and the reason. */

const KNOWN = [
  [
    /^status (400|410|422) instead of 406/,
    'a list with an invalid Accept header: the library reports the header first',
  ],
  [/^status 410 instead of 200|"Expired"|too old/, 'the storage of the reference server has compacted the version'],
  [/RequestWatchProgress is disabled/, 'the storage of the reference server does not support initial events'],
  [/^status 0 instead of 200/, 'the reference server sends the headers of a watch with its first event'],
  [/field not declared/, 'the first undeclared field is random in the reference server'],
  [/^\.body\.metadata\.resourceVersion: <rv:0> instead of <rv:0>$/, 'the first update stores a default of the status'],
  [/^\.body\.metadata\.managedFields: nothing instead of a list/, 'a patch of a status that also breaks the spec'],
  [/^status -1 instead of/, 'the request makes the reference server panic and close the connection'],
  [/^\.body\.resources\[\]/, 'the order of custom resources in discovery is random'],
  [/^\.body\.spec\.updateStrategy\.rollingUpdate/, 'defaults of a DaemonSet of type OnDelete'],
  [/^\.body\.metadata\.generation: 0 instead of 0$/, 'an apply of fields that are pruned'],
  [/\| metadata\.managedFields must be nil$/, 'an apply with managedFields that cannot be decoded'],
  [/in the dialect kubernetes; createCluster/, 'the warning about names of the other dialect'],
  [
    /\{\}.* instead of .*\(nil\)|\(nil\).* instead of .*\{\}/,
    'an empty list or map that a merge or a conversion removes',
  ],
  [/^status 422 instead of 404: (Service|ValidatingAdmissionPolicy)/, 'an apply to the status of a missing object'],
  [/already allocated/, 'a fixed address or port of a Service that another scenario uses'],
  [/^\.contentType|application\/cbor$|\.body\.hex/, 'discovery in CBOR'],
];

/** The reason for a class of differences, if it is a known one. */
export function reasonFor(name, expected) {
  const events = Array.isArray(expected.body) ? JSON.stringify(expected.body) : '';
  return KNOWN.find(([pattern]) => pattern.test(name) || pattern.test(events))?.[1];
}
