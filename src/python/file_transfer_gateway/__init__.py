"""The client of the File Transfer Gateway: files on SFTP, FTP and S3 servers over HTTP.

    from file_transfer_gateway import FileTransferGateway

    with FileTransferGateway("https://files.example.com", api_key="ftg_…") as ftg:
        ftg.upload("warehouse", Path("report.pdf"), path="/inbox")

``AsyncFileTransferGateway`` is the same for asyncio. Methods return dictionaries, typed in ``file_transfer_gateway.types``.
"""

from ._async.client import AsyncFileTransferGateway
from ._async.download import AsyncDownload
from ._calls import Retry
from ._jobs import JobEvent
from ._sync.client import FileTransferGateway
from ._sync.download import Download
from ._versions import FileVersion
from .errors import FtgError
from .receipts import Receipt, ReceiptChain, ReceiptError, verify_chain, verify_receipt
from .webhooks import WebhookVerificationError, verify_webhook

__all__ = [
    "AsyncDownload",
    "AsyncFileTransferGateway",
    "Download",
    "FileTransferGateway",
    "FileVersion",
    "FtgError",
    "JobEvent",
    "Receipt",
    "ReceiptChain",
    "ReceiptError",
    "Retry",
    "WebhookVerificationError",
    "verify_chain",
    "verify_receipt",
    "verify_webhook",
]
