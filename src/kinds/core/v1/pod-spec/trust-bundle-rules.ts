/**
 * The rules of files that hold certificates of trust: of one bundle by its name, or of all bundles of a signer.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, invalid, required } from '../../../../meta/field-error.js';
import { labelSelectorObjectErrors } from '../../../../meta/labels.js';
import type { Verbatim } from '../../../../text/go/go-text.js';
import { quote, verbatim } from '../../../../text/go/go-text.js';
import { dumpLabelSelector } from '../../../shared/selector-dump.js';
import { signerNameProblems, trustBundleNameProblems } from '../../../shared/signer-name.js';
import type { ClusterTrustBundleProjection } from './projected.js';
import { localPathProblems, requiredProblems } from './volume-paths.js';

export function trustBundleProblems(path: string, bundle: ClusterTrustBundleProjection): FieldError[] {
  return [
    ...choiceProblems(path, bundle),
    ...requiredProblems(path, { path: bundle.path }),
    ...localPathProblems(childPath(path, 'path'), bundle.path),
  ];
}

function choiceProblems(path: string, bundle: ClusterTrustBundleProjection): FieldError[] {
  const { name, signerName, labelSelector } = bundle;
  if (name !== undefined && signerName !== undefined) {
    return [invalid(path, dumpBundle(bundle), 'only one of name and signerName may be used')];
  }
  const selectorPath = childPath(path, 'labelSelector');
  if (name !== undefined) {
    const found = nameProblems(childPath(path, 'name'), name);
    if (labelSelector !== undefined) {
      found.push(
        invalid(selectorPath, dumpLabelSelector(labelSelector), 'labelSelector must be unset if name is specified'),
      );
    }
    return found;
  }
  if (signerName === undefined) return [required(path, 'either name or signerName must be specified')];
  const at = childPath(path, 'signerName');
  return [
    ...(signerName === '' ? [required(at, 'must be a valid signer name')] : []),
    ...signerNameProblems(at, signerName),
    ...(labelSelector === undefined ? [] : labelSelectorObjectErrors(labelSelector, selectorPath)),
  ];
}

/** A name with colons begins with that of its signer, whose slash is written as a colon too. */
function nameProblems(path: string, name: string): FieldError[] {
  const end = name.lastIndexOf(':');
  const signerName = end < 0 ? '' : name.slice(0, end).replaceAll(':', '/');
  return [
    ...(name === '' ? [required(path, 'must be a valid object name')] : []),
    ...trustBundleNameProblems(name, signerName).map((why) =>
      invalid(path, name, `not a valid clustertrustbundlename: ${why}`),
    ),
  ];
}

/** The server prints addresses in its memory for pointers, which differ from time to time. */
function dumpBundle({ labelSelector, optional, path }: ClusterTrustBundleProjection): Verbatim {
  const pointer = (type: string, given: boolean) => `(*${type})(${given ? '0xc000000000' : 'nil'})`;
  const fields = [
    `Name:${pointer('string', true)}`,
    `SignerName:${pointer('string', true)}`,
    `LabelSelector:${pointer('v1.LabelSelector', labelSelector !== undefined)}`,
    `Optional:${pointer('bool', optional !== undefined)}`,
    `Path:${quote(path)}`,
  ];
  return verbatim(`core.ClusterTrustBundleProjection{${fields.join(', ')}}`);
}
