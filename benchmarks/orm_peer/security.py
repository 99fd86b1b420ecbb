"""Who calls: dependencies that find the credential of the header, with its account."""

import hashlib
from typing import Annotated

from database import Session
from errors import Refused
from fastapi import Depends, HTTPException
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer
from models import ApiKey, Token
from sqlalchemy import func, or_, select
from sqlalchemy.orm import joinedload

Bearer = Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))]
# "Basic" and the key, which is no pair of name and password in Base64.
Key = Annotated[str | None, Depends(APIKeyHeader(name="Authorization", auto_error=False))]


def _digest(credential: str) -> bytes:
    return hashlib.sha256(credential.encode()).digest()


async def token(session: Session, sent: Bearer) -> Token:
    if sent is None:
        raise HTTPException(401, "Invalid token")
    query = (
        select(Token)
        .options(joinedload(Token.account, innerjoin=True))
        .where(Token.digest == _digest(sent.credentials), Token.revoked_at.is_(None))
        .where(or_(Token.expires_at.is_(None), Token.expires_at > func.now()))
    )
    found = await session.scalar(query)
    if found is None:
        raise HTTPException(401, "Invalid token")
    if found.account.is_suspended:
        raise HTTPException(401, "Suspended account")
    return found


async def api_key(session: Session, sent: Key) -> ApiKey:
    scheme, _, credential = (sent or "").partition(" ")
    if scheme.lower() != "basic":
        raise Refused(401, "Chave inválida", "invalid_key")
    query = (
        select(ApiKey)
        .options(joinedload(ApiKey.seller, innerjoin=True))
        .where(ApiKey.digest == _digest(credential), ApiKey.revoked_at.is_(None))
    )
    found = await session.scalar(query)
    if found is None:
        raise Refused(401, "Chave inválida", "invalid_key")
    if found.seller.is_suspended:
        raise Refused(401, "Conta suspensa", "account_suspended")
    return found


Caller = Annotated[Token, Depends(token)]
SellerKey = Annotated[ApiKey, Depends(api_key)]
