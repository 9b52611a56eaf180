from typing import Any, Dict
Link = Dict[str, Any]
CreatedLink = Dict[str, Any]
