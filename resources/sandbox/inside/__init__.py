"""What runs inside the sandbox: the standard library and these modules only, which are copied in under the same name."""
