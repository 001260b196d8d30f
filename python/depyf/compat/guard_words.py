"""Private names of PyTorch as text: names that occur in Dynamo's conditions, and functions that are called by the
conditions that depyf writes.

No name of this module is looked up when a guard is read. The package `depyf.guards` writes the names into conditions,
which are executed only when a guard is checked; if PyTorch lacks a name, the check fails.
"""

GUARDS = "torch._C._dynamo.guards"
AOT_UTILS = "torch._functorch._aot_autograd.utils"

# The context in which the guard manager reads values, which ignores every `__torch_function__`.
QUIET = "torch._C.DisableTorchFunction()"
MODE_STACK = "torch._dynamo.utils.get_torch_function_mode_stack()"
# A format string, in which `{}` stands for the tensor.
DISPATCH_KEYS = (
    "str((torch._C._dispatch_keys({}) | torch._C._dispatch_tls_local_include_set())"
    " - torch._C._dispatch_tls_local_exclude_set())"
)
KEY_SET = "torch._C.DispatchKeySet"
TORCH_FUNCTION_ENABLED = "torch._C._is_torch_function_enabled()"
TORCH_FUNCTION_ALL_DISABLED = "torch._C._is_torch_function_all_disabled()"
ALLOW_TF32 = "torch._C._get_cublas_allow_tf32()"
FUNCTORCH_STATE = "torch._functorch.pyfunctorch.compare_functorch_state([])"
# The names of functions that the conditions of guards call.
TUPLE_ITERATOR_ITEM = "torch._dynamo.utils.tuple_iterator_getitem"
RANGE_ITERATOR = "torch._dynamo.utils.normalize_range_iter"

FAKE_SCRIPT_OBJECT = "torch._library.fake_class_registry.FakeScriptObject"
FAKE_TENSOR = ("torch._subclasses.fake_tensor", "FakeTensor")  # the module and the qualified name
