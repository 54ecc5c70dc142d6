/**
 * A placeholder CA certificate for clusters without TLS. It is well formed, so programs that parse it succeed. Its private key
 * was not kept, so nothing can be signed with it.
 */
export const PLACEHOLDER_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIUGH9y9fi7vFU7BzB3M38hotw4Z0gwCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMb3JjaHBsYW5lLWNhMCAXDTI2MTExNTIxNTc1MVoYDzIxMjYx
MDIyMjE1NzUxWjAXMRUwEwYDVQQDDAxvcmNocGxhbmUtY2EwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAAQdAZhj7muuFrcbzk4br0qz25wx+JwXJjce58vSuju8yhDu
AUb8xxj9NpE1GMrDLqP+sb4zGgL9DdLd7u1nUYA1o2MwYTAdBgNVHQ4EFgQUOzOj
S9iwPj9f318f17Di+nxRkSYwHwYDVR0jBBgwFoAUOzOjS9iwPj9f318f17Di+nxR
kSYwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAqQwCgYIKoZIzj0EAwID
SAAwRQIhAIjFFaZTNOovqzolD/iNR/k/l+e+48y37awxmzLOCELNAiAUhSRAO0jR
Tgz1Wh4tryAL3YHYK9PNXdO53XZYfMBShA==
-----END CERTIFICATE-----
`;
