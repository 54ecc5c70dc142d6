/** Warnings about TLS secrets whose certificate and key do not match. */
import { Secret } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';

const pem = (type: string, base64: string) => `-----BEGIN ${type}-----\n${base64}\n-----END ${type}-----\n`;

const CERTIFICATE = pem(
  'CERTIFICATE',
  'MIIBbzCCARWgAwIBAgIUPSv8S5KST89VHZtXZJ+K7qnuRNcwCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBdDAgFw0yNjExMTUwNzI4MzJaGA8yMTI2MTAyMjA3MjgzMlowDDEKMAgGA1UEAwwBdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGzsQdnF3UXfVzz1ASX+QNQRRcMQFgZluKvoD3GbrxFz3qdAj9YddOZr6dsN1diMOIKiWfRCcQMN+j9ONtXBv+ejUzBRMB0GA1UdDgQWBBS8cbosERhg+22lV/XOpTik6RXLCzAfBgNVHSMEGDAWgBS8cbosERhg+22lV/XOpTik6RXLCzAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIGn3wRgmFCcPYYEgoSil0UccI9lCDHkmTn0sk3RreIrJAiEAlZu0gjhEMnbZB3MJYiTIhehETClf56sdu+XvqUZulwc=',
);
const KEY =
  'MHcCAQEEIE0aH9htaHZwMuaAPRCcHau6dC3760pEur3V2vuX21lUoAoGCCqGSM49AwEHoUQDQgAEbOxB2cXdRd9XPPUBJf5A1BFFwxAWBmW4q+gPcZuvEXPep0CP1h105mvp2w3V2Iw4gqJZ9EJxAw36P0421cG/5w==';
const WRAPPED_KEY =
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgTRof2G1odnAy5oA9EJwdq7p0LfvrSkS6vdXa+5fbWVShRANCAARs7EHZxd1F31c89QEl/kDUEUXDEBYGZbir6A9xm68Rc96nQI/WHXTma+nbDdXYjDiColn0QnEDDfo/TjbVwb/n';
const OTHER_KEY =
  'MHcCAQEEINuxHAjTDaySJaAj8tLAteC5LATAEERTjsTvm66L8c11oAoGCCqGSM49AwEHoUQDQgAEAdhAJVZrurfYi0Cqe7v2os80g6gzUR74lCPeHCEVAsaRpM6nhmiDu2hS1pF9VtnZ6BFxgwgQFBn1LgxWxnJXKg==';
const RSA_CERTIFICATE = pem(
  'CERTIFICATE',
  'MIIBcTCCARugAwIBAgIUZgp+bzapXGQjKjBG3Xz+HRNMc50wDQYJKoZIhvcNAQELBQAwDDEKMAgGA1UEAwwBdDAgFw0yNjExMTUwNzI4MzJaGA8yMTI2MTAyMjA3MjgzMlowDDEKMAgGA1UEAwwBdDBcMA0GCSqGSIb3DQEBAQUAA0sAMEgCQQDXf/neCcLGtdwus9MOYJOUp3vImWy4d73kdSvCVFU2COJtojUrRWwBCXXNtatCiV8UiLF1GMig+kvzT7zPEebvAgMBAAGjUzBRMB0GA1UdDgQWBBT5eDJ1m0ZJPT9v/NacBeywhhK3OzAfBgNVHSMEGDAWgBT5eDJ1m0ZJPT9v/NacBeywhhK3OzAPBgNVHRMBAf8EBTADAQH/MA0GCSqGSIb3DQEBCwUAA0EAXCHRbMz7AYVUCVBkH7L+8AcEvoA7vmTNzM0I0WXf9+nwlI2UTB44CebixS03J+J5R43DNbYp7pTNJWE0aowyXA==',
);
const RSA_KEY =
  'MIIBOQIBAAJBANd/+d4Jwsa13C6z0w5gk5Sne8iZbLh3veR1K8JUVTYI4m2iNStFbAEJdc21q0KJXxSIsXUYyKD6S/NPvM8R5u8CAwEAAQJAXVllfoZR5kv+/ggNg+vX4gwO9d1oGBxemKkc9IgdhVLWSXF2GRshOMorWonDGM7am9AOXV5IzBqME3nJ0qHemQIhAPPB0VwJVTQLEkoNTBf/ZrfRbBHZRlpUxCWzX/nd7rSLAiEA4lLVJ1iORpaJuSisLq8fDTV4oyF3NSG8UgC5fbOBT60CIAc929VrJY/dQFbY3EjeOpP9ccN5/AAVAprIIHLQ6BWPAiBTS5kXeggjApR9iPKV2+3ZtqxHnbF55IiixZF/KemVoQIgelc4o8GCNk3vqWboeXMg0gZAzdiWXE8psVOuwIqjfsg=';
const WRAPPED_RSA_KEY =
  'MIIBUwIBADANBgkqhkiG9w0BAQEFAASCAT0wggE5AgEAAkEA13/53gnCxrXcLrPTDmCTlKd7yJlsuHe95HUrwlRVNgjibaI1K0VsAQl1zbWrQolfFIixdRjIoPpL80+8zxHm7wIDAQABAkBdWWV+hlHmS/7+CA2D69fiDA713WgYHF6YqRz0iB2FUtZJcXYZGyE4yitaicMYztqb0A5dXkjMGowTecnSod6ZAiEA88HRXAlVNAsSSg1MF/9mt9FsEdlGWlTEJbNf+d3utIsCIQDiUtUnWI5Glom5KKwurx8NNXijIXc1IbxSALl9s4FPrQIgBz3b1Wslj91AVtjcSN46k/1xw3n8ABUCmsggctDoFY8CIFNLmRd6CCMClH2I8pXb7dm2rEedsXnkiKLFkX8p6ZWhAiB6VzijwYI2Te+pZuh5cyDSBkDN2JZcTymxU67AiqN+yA==';
const ED25519_KEY = 'MC4CAQAwBQYDK2VwBCIEIA4Ir1vbJFxYaZSDHmbTW6fGi9oBqJm524KRcVWChVnE';
const X25519_KEY = 'MC4CAQAwBQYDK2VuBCIEIAiea6MNsxRjrf9RVxjtCX2Kg+lAVox+fG16ecLXGktn';

async function warningsOf(certificate: string, key: string): Promise<string[]> {
  const warnings: string[] = [];
  await testCluster({ client: { onWarning: (text) => warnings.push(text) } })
    .api(Secret)
    .create({ metadata: { name: 'a' }, type: 'orch.io/tls', stringData: { 'tls.crt': certificate, 'tls.key': key } });
  return warnings;
}

test.each([
  ['an EC private key', CERTIFICATE, pem('EC PRIVATE KEY', KEY)],
  ['an EC key in PKCS #8', CERTIFICATE, pem('PRIVATE KEY', WRAPPED_KEY)],
  ['an RSA key', RSA_CERTIFICATE, pem('RSA PRIVATE KEY', RSA_KEY)],
  ['an RSA key in PKCS #8', RSA_CERTIFICATE, pem('PRIVATE KEY', WRAPPED_RSA_KEY)],
  [
    'other blocks around both',
    pem('NOTE', 'AQI=') + CERTIFICATE,
    pem('EC PARAMETERS', 'AQI=') + pem('EC PRIVATE KEY', KEY),
  ],
])('returns no warning for %s', async (_, certificate, key) => {
  expect(await warningsOf(certificate, key)).toEqual([]);
});

test.each([
  ['empty values', '', '', 'tls: failed to find any PEM data in certificate input'],
  [
    'the key in place of the certificate',
    pem('EC PRIVATE KEY', KEY),
    CERTIFICATE,
    'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
  ],
  [
    'other blocks',
    pem('A', 'AQI=') + pem('B', 'AQI='),
    '',
    'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [A B]',
  ],
  ['a key that is not PEM', CERTIFICATE, 'x', 'tls: failed to find any PEM data in key input'],
  [
    'a certificate in place of the key',
    CERTIFICATE,
    CERTIFICATE,
    'tls: found a certificate rather than a key in the PEM for the private key',
  ],
  [
    'another block in place of the key',
    CERTIFICATE,
    pem('PUBLIC KEY', 'AQI='),
    'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [PUBLIC KEY]',
  ],
  [
    'an invalid certificate',
    pem('CERTIFICATE', 'AQI='),
    pem('PRIVATE KEY', WRAPPED_KEY),
    'x509: malformed certificate',
  ],
  ['an invalid key', CERTIFICATE, pem('PRIVATE KEY', 'AQI='), 'tls: failed to parse private key'],
  [
    'a key that cannot sign',
    CERTIFICATE,
    pem('PRIVATE KEY', X25519_KEY),
    'tls: found unknown private key type in PKCS#8 wrapping',
  ],
  [
    'a key of another algorithm',
    CERTIFICATE,
    pem('RSA PRIVATE KEY', RSA_KEY),
    'tls: private key type does not match public key type',
  ],
  [
    'a key of a third algorithm',
    RSA_CERTIFICATE,
    pem('PRIVATE KEY', ED25519_KEY),
    'tls: private key type does not match public key type',
  ],
  [
    'the key of another certificate',
    CERTIFICATE,
    pem('EC PRIVATE KEY', OTHER_KEY),
    'tls: private key does not match public key',
  ],
])('returns a warning for %s', async (_, certificate, key, warning) => {
  expect(await warningsOf(certificate, key)).toEqual([warning]);
});
